//! Writes all-MiniLM-L6-v2 as an ONNX graph: BERT with 6 layers, then the mean over the tokens, normalized to length 1.
//!
//! The graph is already in the form that ONNX Runtime executes best, so backends load it with the optimizer off:
//!
//! * A weight matrix is stored in panels of 16 columns, `[outputs/16, inputs, 16]`. The runtime's matrix product reads
//!   it in that order, on x86-64 and ARM alike, so a product needs no rearranging ("prepacking"), which would take a
//!   private copy of 42 MB in each process. A short text takes 9 ms instead of 15, from file pages that all processes
//!   share.
//! * Operations are fused: attention over the heads (`MultiHeadAttention`); bias, residual, and normalization
//!   (`SkipLayerNormalization`); bias and exact Gelu (`BiasGelu`). Each node costs every backend 6 KB, and 0.1 ms when
//!   it opens the model.
//! * There is no attention mask, because all texts of a batch have the same length. There is no token type: all types
//!   are 0, whose row is added to the positions here.

use std::io::Write;

use nl2sql_embed::EmbedError;

use crate::error::SetupError;
use crate::onnx_graph::{CONTRIB, GraphBuilder, WeightsFile};
use crate::onnx_proto::{self, Extent, Model, Node, OperatorSet, Tensor, ValueInfo};
use crate::safetensors::Checkpoint;

pub(crate) const HIDDEN: usize = 384;
const LAYERS: usize = 6;
const HEADS: usize = 12;
const INNER: usize = 4 * HIDDEN;
const WORDS: usize = 30522;
const POSITIONS: usize = 512;
const EPSILON: f32 = 1e-12;
/// Columns of a weight panel.
const PANEL: usize = 16;

/// A graph without the tensors of its weights, which are known once the weights file has its final name.
pub(crate) struct GraphWithoutWeights {
    nodes: Vec<Node>,
    constants: Vec<Tensor>,
}

/// Writes the weights of `checkpoint` to `weights` and returns the graph.
///
/// # Errors
/// `Unexpected` when the checkpoint belongs to another model, and the result of `failed` for an I/O error of `weights`.
pub(crate) fn write<W: Write>(
    checkpoint: &Checkpoint,
    weights: &mut WeightsFile<W>,
    failed: impl Fn(std::io::Error) -> SetupError,
) -> Result<GraphWithoutWeights, SetupError> {
    let mut graph = Minilm { checkpoint, builder: GraphBuilder::new(weights), failed };
    graph.shapes();
    let mut x = graph.embeddings()?;
    for layer in 0..LAYERS {
        x = graph.layer(layer, &x)?;
    }
    graph.pooling(&x);
    let (nodes, constants) = graph.builder.finish();
    Ok(GraphWithoutWeights { nodes, constants })
}

impl GraphWithoutWeights {
    /// The bytes of the ONNX file, given the tensors of the weights.
    pub fn encode(self, weights: Vec<Tensor>) -> Vec<u8> {
        let axis = |name: &str| Extent::Named(name.to_owned());
        let ids = vec![axis("batch"), axis("sequence")];
        let vectors = vec![axis("batch"), Extent::Fixed(HIDDEN as i64)];
        let opset = |domain: &str, version| OperatorSet { domain: domain.to_owned(), version };
        let mut initializer = self.constants;
        initializer.extend(weights);
        let model = Model {
            ir_version: 9,
            producer_name: "nl2sql".to_owned(),
            graph: Some(onnx_proto::Graph {
                node: self.nodes,
                name: "all-MiniLM-L6-v2".to_owned(),
                initializer,
                input: vec![ValueInfo::tensor("input_ids", onnx_proto::INT64, ids)],
                output: vec![ValueInfo::tensor("sentence_embedding", onnx_proto::FLOAT, vectors)],
            }),
            opset_import: vec![opset("", 20), opset(CONTRIB, 1)],
        };
        prost::Message::encode_to_vec(&model)
    }
}

struct Minilm<'a, W: Write, F> {
    checkpoint: &'a Checkpoint<'a>,
    builder: GraphBuilder<'a, W>,
    failed: F,
}

impl<W: Write, F: Fn(std::io::Error) -> SetupError> Minilm<'_, W, F> {
    fn get(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, EmbedError> {
        self.checkpoint.tensor(name, shape)
    }

    /// Adds constants and shapes that all layers share. Between layers, the tokens of all texts are the rows of one
    /// matrix, `[tokens, 384]`.
    fn shapes(&mut self) {
        let b = &mut self.builder;
        b.ints("axis_0", &[0]);
        b.ints("axis_1", &[1]);
        b.ints("by_token", &[-1, HIDDEN as i64]);
        b.ints("by_token_inner", &[-1, INNER as i64]);
        b.ints("hidden", &[HIDDEN as i64]);
        b.ints("three_hidden", &[3 * HIDDEN as i64]);
        b.op("Shape", &["input_ids"], "shape");
        b.op("Shape", &["input_ids"], "sequence").int("start", 1);
        b.op("Concat", &["shape", "hidden"], "by_text").int("axis", 0);
        b.op("Concat", &["shape", "three_hidden"], "by_text_three").int("axis", 0);
    }

    fn embeddings(&mut self) -> Result<String, SetupError> {
        let word = self.get("embeddings.word_embeddings.weight", &[WORDS, HIDDEN])?;
        let mut position = self.get("embeddings.position_embeddings.weight", &[POSITIONS, HIDDEN])?;
        let types = self.get("embeddings.token_type_embeddings.weight", &[2, HIDDEN])?;
        for row in position.chunks_exact_mut(HIDDEN) {
            row.iter_mut().zip(&types).for_each(|(p, t)| *p += t);
        }
        let gamma = self.get("embeddings.LayerNorm.weight", &[HIDDEN])?;
        let beta = self.get("embeddings.LayerNorm.bias", &[HIDDEN])?;
        let b = &mut self.builder;
        b.weight("word", &[WORDS, HIDDEN], &word).map_err(&self.failed)?;
        b.weight("position", &[POSITIONS, HIDDEN], &position).map_err(&self.failed)?;
        b.floats("embedding_gamma", &[HIDDEN], &gamma);
        b.floats("embedding_beta", &[HIDDEN], &beta);
        b.op("Gather", &["word", "input_ids"], "word_rows");
        // Slice, because the optimizer rewrites Gather over Range incorrectly.
        b.op("Slice", &["position", "axis_0", "sequence", "axis_0"], "position_rows");
        b.op("Add", &["word_rows", "position_rows"], "summed");
        b.op("LayerNormalization", &["summed", "embedding_gamma", "embedding_beta"], "normalised")
            .int("axis", -1)
            .float("epsilon", EPSILON);
        b.op("Reshape", &["normalised", "by_token"], "layer_0");
        Ok("layer_0".to_owned())
    }

    /// Adds one layer: attention and the inner network, each with its residual.
    fn layer(&mut self, layer: usize, x: &str) -> Result<String, SetupError> {
        let from = format!("encoder.layer.{layer}.");
        let n = |name: &str| format!("l{layer}_{name}");
        let context = self.attention(&from, &n, x)?;
        let dense = self.get(&format!("{from}attention.output.dense.weight"), &[HIDDEN, HIDDEN])?;
        let bias = self.get(&format!("{from}attention.output.dense.bias"), &[HIDDEN])?;
        let out = self.product(&context, &n("output"), "by_token", &dense, HIDDEN, HIDDEN)?;
        let x = self.residual(&format!("{from}attention.output.LayerNorm"), &n("attended"), [&out, x], &bias)?;
        let up = self.get(&format!("{from}intermediate.dense.weight"), &[INNER, HIDDEN])?;
        let up_bias = self.get(&format!("{from}intermediate.dense.bias"), &[INNER])?;
        let down = self.get(&format!("{from}output.dense.weight"), &[HIDDEN, INNER])?;
        let down_bias = self.get(&format!("{from}output.dense.bias"), &[HIDDEN])?;
        let inner = self.product(&x, &n("inner"), "by_token_inner", &up, INNER, HIDDEN)?;
        let b = &mut self.builder;
        let up_bias = b.floats(&n("inner_bias"), &[INNER], &up_bias);
        b.contrib("BiasGelu", &[&inner, &up_bias], &n("gelu"));
        let out = self.product(&n("gelu"), &n("down"), "by_token", &down, HIDDEN, INNER)?;
        self.residual(&format!("{from}output.LayerNorm"), &format!("layer_{}", layer + 1), [&out, &x], &down_bias)
    }

    /// Adds the attention of each token to the others, `[tokens, 384]`.
    fn attention(&mut self, from: &str, n: &impl Fn(&str) -> String, x: &str) -> Result<String, SetupError> {
        let (mut weight, mut bias) = (Vec::new(), Vec::new());
        for part in ["query", "key", "value"] {
            let from = format!("{from}attention.self.{part}");
            weight.extend(self.get(&format!("{from}.weight"), &[HIDDEN, HIDDEN])?);
            bias.extend(self.get(&format!("{from}.bias"), &[HIDDEN])?);
        }
        let all = self.product(x, &n("qkv"), "by_text_three", &weight, 3 * HIDDEN, HIDDEN)?;
        let b = &mut self.builder;
        let (q, k, v) = (n("q"), n("k"), n("v"));
        b.op_many("Split", &[&all], &[&q, &k, &v]).int("axis", 2).int("num_outputs", 3);
        let bias = b.floats(&n("qkv_bias"), &[3 * HIDDEN], &bias);
        b.contrib("MultiHeadAttention", &[&q, &k, &v, &bias], &n("attention")).int("num_heads", HEADS as i64);
        b.op("Reshape", &[&n("attention"), "by_token"], &n("context"));
        Ok(n("context"))
    }

    /// Adds `x · weightᵀ` with shape `shape`; `weight` is `[outputs, inputs]`.
    fn product(
        &mut self,
        x: &str,
        name: &str,
        shape: &str,
        weight: &[f32],
        outputs: usize,
        inputs: usize,
    ) -> Result<String, SetupError> {
        let (panels, rows) = (format!("{name}_panels"), format!("{name}_rows"));
        let dims = [outputs / PANEL, inputs, PANEL];
        let b = &mut self.builder;
        let weight = b.weight(&format!("{name}_weight"), &dims, &in_panels(weight, inputs)).map_err(&self.failed)?;
        b.op("MatMul", &[x, &weight], &panels);
        b.op("Transpose", &[&panels], &rows).ints("perm", &[1, 0, 2]);
        b.op("Reshape", &[&rows, shape], name);
        Ok(name.to_owned())
    }

    /// Adds `normalize(x + bias + residual)`.
    fn residual(
        &mut self,
        from: &str,
        name: &str,
        [x, residual]: [&str; 2],
        bias: &[f32],
    ) -> Result<String, SetupError> {
        let gamma = self.get(&format!("{from}.weight"), &[HIDDEN])?;
        let beta = self.get(&format!("{from}.bias"), &[HIDDEN])?;
        let b = &mut self.builder;
        let gamma = b.floats(&format!("{name}_gamma"), &[HIDDEN], &gamma);
        let beta = b.floats(&format!("{name}_beta"), &[HIDDEN], &beta);
        let bias = b.floats(&format!("{name}_bias"), &[HIDDEN], bias);
        b.contrib("SkipLayerNormalization", &[x, residual, &gamma, &beta, &bias], name).float("epsilon", EPSILON);
        Ok(name.to_owned())
    }

    /// Adds the mean over the tokens of each text, normalized to length 1.
    fn pooling(&mut self, x: &str) {
        let b = &mut self.builder;
        b.ints("last_axis", &[-1]);
        b.op("Reshape", &[x, "by_text"], "tokens");
        // Transpose first: the runtime sums a middle axis in an order that depends on the number of texts, but the last
        // axis always in the same order.
        b.op("Transpose", &["tokens"], "components").ints("perm", &[0, 2, 1]);
        b.op("ReduceMean", &["components", "last_axis"], "mean").int("keepdims", 0);
        b.op("LpNormalization", &["mean"], "sentence_embedding").int("axis", -1).int("p", 2);
    }
}

/// Rearranges `[outputs, inputs]` to `[outputs/16, inputs, 16]`.
fn in_panels(weight: &[f32], inputs: usize) -> Vec<f32> {
    let mut panels = Vec::with_capacity(weight.len());
    for rows in weight.chunks_exact(PANEL * inputs) {
        for input in 0..inputs {
            panels.extend((0..PANEL).map(|output| rows[output * inputs + input]));
        }
    }
    panels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_holds_16_adjacent_outputs() {
        let inputs = 3;
        let weight: Vec<f32> = (0..2 * PANEL * inputs).map(|v| v as f32).collect();
        let panels = in_panels(&weight, inputs);
        // Panel 1, input 2, output 5 is row 16 + 5, column 2.
        let at = PANEL * inputs + 2 * PANEL + 5;
        assert_eq!(panels[at], weight[(PANEL + 5) * inputs + 2]);
        assert_eq!(panels.len(), weight.len());
    }
}
