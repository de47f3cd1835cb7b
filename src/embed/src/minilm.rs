//! all-MiniLM-L6-v2 as an ONNX graph: BERT with 6 layers, then the mean over the
//! tokens and a vector of length 1.
//!
//! The graph is written in the form that ONNX Runtime executes best as it stands,
//! so that it is loaded with the optimiser off:
//!
//! * A weight matrix is stored in panels of 16 columns, `[outputs/16, inputs, 16]`.
//!   That is the order in which the runtime's matrix product reads it on x86-64 and
//!   ARM alike, so that a product costs no re-arranging ("prepacking"), which a
//!   private copy of 42 MB would otherwise avoid. A short text takes 9 ms rather
//!   than 15, from file pages that all processes share.
//! * Bias, residual and normalisation are one `SkipLayerNormalization`, bias and
//!   Gelu (exact, with erf) one `BiasGelu`.
//! * What is the same for every text is worked out here: token type 0 is added to
//!   the positions, 1/√32 is in the query weights; the bias of the keys adds the
//!   same to every score of a row and is left out, that of the values comes through
//!   the attention unchanged and goes into the bias of the output.

use std::io::Write;

use crate::checkpoint::Checkpoint;
use crate::error::EmbedError;
use crate::graph::{Builder, CONTRIB, Weights};
use crate::onnx::{self, Extent, Model, Node, OperatorSet, Tensor, ValueInfo};

pub(crate) const HIDDEN: usize = 384;
const LAYERS: usize = 6;
const HEADS: usize = 12;
const HEAD: usize = HIDDEN / HEADS;
const INNER: usize = 4 * HIDDEN;
const WORDS: usize = 30522;
const POSITIONS: usize = 512;
const EPSILON: f32 = 1e-12;
/// Columns of a weight panel.
const PANEL: usize = 16;

/// What the graph gives back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// `sentence_embedding [batch, 384]`, of length 1.
    Sentence,
    /// `last_hidden_state [batch, sequence, 384]`, as most exports have it.
    Tokens,
}

/// A graph but for the entries of its weights, which are known once the file that
/// holds them has its name.
pub(crate) struct Skeleton {
    nodes: Vec<Node>,
    constants: Vec<Tensor>,
    output: Output,
}

/// Writes the weights of `checkpoint` to `weights` and gives back the graph.
///
/// # Errors
/// `Unexpected` when the checkpoint is of another model, and what `failed` makes of
/// an I/O error of `weights`.
pub(crate) fn build<W: Write>(
    checkpoint: &Checkpoint,
    output: Output,
    weights: &mut Weights<W>,
    failed: impl Fn(std::io::Error) -> EmbedError,
) -> Result<Skeleton, EmbedError> {
    let mut graph = Minilm {
        checkpoint,
        builder: Builder::new(weights),
        failed,
    };
    graph.shapes();
    let mut x = graph.embeddings()?;
    for layer in 0..LAYERS {
        x = graph.layer(layer, &x)?;
    }
    match output {
        Output::Sentence => graph.pool(&x),
        Output::Tokens => {
            let b = &mut graph.builder;
            b.op("Reshape", &[&x, "by_text"], "last_hidden_state");
        }
    }
    let (nodes, constants) = graph.builder.finish();
    Ok(Skeleton {
        nodes,
        constants,
        output,
    })
}

impl Skeleton {
    /// The bytes of the ONNX file, given the entries of the weights.
    pub fn encode(self, weights: Vec<Tensor>) -> Vec<u8> {
        let axis = |name: &str| Extent::Named(name.to_owned());
        let rows = || vec![axis("batch"), axis("sequence")];
        let width = Extent::Fixed(HIDDEN as i64);
        let (name, shape) = match self.output {
            Output::Sentence => ("sentence_embedding", vec![axis("batch"), width]),
            Output::Tokens => {
                let mut shape = rows();
                shape.push(width);
                ("last_hidden_state", shape)
            }
        };
        let opset = |domain: &str, version| OperatorSet {
            domain: domain.to_owned(),
            version,
        };
        let mut initializer = self.constants;
        initializer.extend(weights);
        let model = Model {
            ir_version: 9,
            producer_name: "nl2sql".to_owned(),
            graph: Some(onnx::Graph {
                node: self.nodes,
                name: "all-MiniLM-L6-v2".to_owned(),
                initializer,
                input: vec![
                    ValueInfo::tensor("input_ids", onnx::INT64, rows()),
                    ValueInfo::tensor("attention_mask", onnx::INT64, rows()),
                ],
                output: vec![ValueInfo::tensor(name, onnx::FLOAT, shape)],
            }),
            opset_import: vec![opset("", 20), opset(CONTRIB, 1)],
        };
        prost::Message::encode_to_vec(&model)
    }
}

struct Minilm<'a, W: Write, F> {
    checkpoint: &'a Checkpoint<'a>,
    builder: Builder<'a, W>,
    failed: F,
}

impl<W: Write, F: Fn(std::io::Error) -> EmbedError> Minilm<'_, W, F> {
    fn get(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, EmbedError> {
        self.checkpoint.tensor(name, shape)
    }

    /// Shapes and the attention mask, which all layers share. Between the layers
    /// the tokens of all texts are the rows of one matrix `[tokens, 384]`.
    fn shapes(&mut self) {
        let b = &mut self.builder;
        let (hidden, head, heads) = (HIDDEN as i64, HEAD as i64, HEADS as i64);
        let panel = PANEL as i64;
        b.ints("axis_0", &[0]);
        b.ints("axis_1", &[1]);
        b.ints("axis_2", &[2]);
        b.ints("axes_1_2", &[1, 2]);
        b.ints("by_token", &[-1, hidden]);
        b.ints("by_token_inner", &[-1, INNER as i64]);
        b.ints("hidden", &[hidden]);
        b.ints("heads", &[heads]);
        b.ints("head", &[head]);
        b.ints("three_heads", &[3, heads, head / panel]);
        b.ints("panel", &[panel]);
        b.op("Shape", &["input_ids"], "shape");
        b.op("Slice", &["shape", "axis_0", "axis_1", "axis_0"], "batch");
        b.op("Slice", &["shape", "axis_1", "axis_2", "axis_0"], "sequence");
        b.op("Concat", &["shape", "hidden"], "by_text").int("axis", 0);
        // [3, 12, 2, batch, sequence, 16]: query, key and value as the product of
        // panels leaves them.
        b.op("Concat", &["three_heads", "shape", "panel"], "as_panels")
            .int("axis", 0);
        b.op("Concat", &["batch", "heads", "sequence", "head"], "by_head")
            .int("axis", 0);
        // 0 where there is a token, the lowest float where there is padding.
        b.floats("one", &[], &[1.0]);
        b.floats("lowest", &[], &[f32::MIN]);
        b.op("Cast", &["attention_mask"], "mask")
            .int("to", onnx::FLOAT.into());
        b.op("Unsqueeze", &["mask", "axes_1_2"], "mask_4d");
        b.op("Sub", &["one", "mask_4d"], "padding");
        b.op("Mul", &["padding", "lowest"], "penalty");
    }

    fn embeddings(&mut self) -> Result<String, EmbedError> {
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
        b.weight("position", &[POSITIONS, HIDDEN], &position)
            .map_err(&self.failed)?;
        b.floats("embedding_gamma", &[HIDDEN], &gamma);
        b.floats("embedding_beta", &[HIDDEN], &beta);
        b.op("Gather", &["word", "input_ids"], "word_rows");
        // A slice: the optimiser rewrites Gather over Range wrongly.
        b.op("Slice", &["position", "axis_0", "sequence", "axis_0"], "position_rows");
        b.op("Add", &["word_rows", "position_rows"], "summed");
        b.op(
            "LayerNormalization",
            &["summed", "embedding_gamma", "embedding_beta"],
            "normalised",
        )
        .int("axis", -1)
        .float("epsilon", EPSILON);
        b.op("Reshape", &["normalised", "by_token"], "layer_0");
        Ok("layer_0".to_owned())
    }

    /// One layer: attention and the inner network, each with its residual.
    fn layer(&mut self, layer: usize, x: &str) -> Result<String, EmbedError> {
        let from = format!("encoder.layer.{layer}.");
        let n = |name: &str| format!("l{layer}_{name}");
        let context = self.attention(&from, &n, x)?;
        let dense = self.get(&format!("{from}attention.output.dense.weight"), &[HIDDEN, HIDDEN])?;
        let mut bias = self.get(&format!("{from}attention.output.dense.bias"), &[HIDDEN])?;
        let value_bias = self.get(&format!("{from}attention.self.value.bias"), &[HIDDEN])?;
        add_product(&mut bias, &dense, &value_bias);
        let out = self.product(&context, &n("output"), "by_token", &dense, HIDDEN, HIDDEN)?;
        let x = self.residual(
            &format!("{from}attention.output.LayerNorm"),
            &n("attended"),
            [&out, x],
            &bias,
        )?;
        let up = self.get(&format!("{from}intermediate.dense.weight"), &[INNER, HIDDEN])?;
        let up_bias = self.get(&format!("{from}intermediate.dense.bias"), &[INNER])?;
        let down = self.get(&format!("{from}output.dense.weight"), &[HIDDEN, INNER])?;
        let down_bias = self.get(&format!("{from}output.dense.bias"), &[HIDDEN])?;
        let inner = self.product(&x, &n("inner"), "by_token_inner", &up, INNER, HIDDEN)?;
        let b = &mut self.builder;
        let up_bias = b.floats(&n("inner_bias"), &[INNER], &up_bias);
        b.contrib("BiasGelu", &[&inner, &up_bias], &n("gelu"));
        let out = self.product(&n("gelu"), &n("down"), "by_token", &down, HIDDEN, INNER)?;
        self.residual(
            &format!("{from}output.LayerNorm"),
            &format!("layer_{}", layer + 1),
            [&out, &x],
            &down_bias,
        )
    }

    /// What each token takes from the others, `[tokens, 384]`, without the bias of
    /// the values.
    fn attention(
        &mut self,
        from: &str,
        n: &impl Fn(&str) -> String,
        x: &str,
    ) -> Result<String, EmbedError> {
        let scale = 1.0 / (HEAD as f64).sqrt();
        let scaled = |values: Vec<f32>| -> Vec<f32> {
            values.iter().map(|&v| (f64::from(v) * scale) as f32).collect()
        };
        let mut all = scaled(self.get(&format!("{from}attention.self.query.weight"), &[HIDDEN, HIDDEN])?);
        all.extend(self.get(&format!("{from}attention.self.key.weight"), &[HIDDEN, HIDDEN])?);
        all.extend(self.get(&format!("{from}attention.self.value.weight"), &[HIDDEN, HIDDEN])?);
        let query_bias = scaled(self.get(&format!("{from}attention.self.query.bias"), &[HIDDEN])?);
        let weight = self.panels(&n("qkv_weight"), &all, 3 * HIDDEN, HIDDEN)?;
        let b = &mut self.builder;
        b.op("MatMul", &[x, &weight], &n("qkv_panels"));
        b.op("Reshape", &[&n("qkv_panels"), "as_panels"], &n("qkv_split"));
        b.op("Transpose", &[&n("qkv_split")], &n("qkv"))
            .ints("perm", &[0, 3, 1, 4, 2, 5]);
        b.op_many("Split", &[&n("qkv")], &[&n("q5"), &n("k5"), &n("v5")])
            .int("axis", 0)
            .int("num_outputs", 3);
        b.op("Reshape", &[&n("q5"), "by_head"], &n("q4"));
        b.op("Reshape", &[&n("k5"), "by_head"], &n("k"));
        b.op("Reshape", &[&n("v5"), "by_head"], &n("v"));
        let query_bias = b.floats(&n("q_bias"), &[HEADS, 1, HEAD], &query_bias);
        b.op("Add", &[&n("q4"), &query_bias], &n("q"));
        b.contrib("FusedMatMul", &[&n("q"), &n("k")], &n("scores"))
            .int("transB", 1);
        b.op("Add", &[&n("scores"), "penalty"], &n("masked"));
        b.op("Softmax", &[&n("masked")], &n("shares")).int("axis", -1);
        b.op("MatMul", &[&n("shares"), &n("v")], &n("context_heads"));
        b.op("Transpose", &[&n("context_heads")], &n("context_rows"))
            .ints("perm", &[0, 2, 1, 3]);
        b.op("Reshape", &[&n("context_rows"), "by_token"], &n("context"));
        Ok(n("context"))
    }

    /// `x · weightᵀ`, `[tokens, outputs]`; `weight` is `[outputs, inputs]`.
    fn product(
        &mut self,
        x: &str,
        name: &str,
        shape: &str,
        weight: &[f32],
        outputs: usize,
        inputs: usize,
    ) -> Result<String, EmbedError> {
        let weight = self.panels(&format!("{name}_weight"), weight, outputs, inputs)?;
        let (panels, rows) = (format!("{name}_panels"), format!("{name}_rows"));
        let b = &mut self.builder;
        b.op("MatMul", &[x, &weight], &panels);
        b.op("Transpose", &[&panels], &rows).ints("perm", &[1, 0, 2]);
        b.op("Reshape", &[&rows, shape], name);
        Ok(name.to_owned())
    }

    fn panels(
        &mut self,
        name: &str,
        weight: &[f32],
        outputs: usize,
        inputs: usize,
    ) -> Result<String, EmbedError> {
        self.builder
            .weight(
                name,
                &[outputs / PANEL, inputs, PANEL],
                &in_panels(weight, inputs),
            )
            .map_err(&self.failed)
    }

    /// `normalise(x + bias + residual)`.
    fn residual(
        &mut self,
        from: &str,
        name: &str,
        [x, residual]: [&str; 2],
        bias: &[f32],
    ) -> Result<String, EmbedError> {
        let gamma = self.get(&format!("{from}.weight"), &[HIDDEN])?;
        let beta = self.get(&format!("{from}.bias"), &[HIDDEN])?;
        let b = &mut self.builder;
        let gamma = b.floats(&format!("{name}_gamma"), &[HIDDEN], &gamma);
        let beta = b.floats(&format!("{name}_beta"), &[HIDDEN], &beta);
        let bias = b.floats(&format!("{name}_bias"), &[HIDDEN], bias);
        b.contrib("SkipLayerNormalization", &[x, residual, &gamma, &beta, &bias], name)
            .float("epsilon", EPSILON);
        Ok(name.to_owned())
    }

    /// The mean over the tokens of each text, divided by its length.
    fn pool(&mut self, x: &str) {
        let b = &mut self.builder;
        b.floats("tiny", &[], &[1e-12]);
        b.op("Reshape", &[x, "by_text"], "tokens");
        b.op("Unsqueeze", &["mask", "axis_2"], "mask_3d");
        b.op("Mul", &["tokens", "mask_3d"], "kept");
        b.op("ReduceSum", &["kept", "axis_1"], "sum").int("keepdims", 0);
        b.op("ReduceSum", &["mask", "axis_1"], "count").int("keepdims", 1);
        b.op("Div", &["sum", "count"], "mean");
        b.op("ReduceL2", &["mean", "axis_1"], "length").int("keepdims", 1);
        b.op("Max", &["length", "tiny"], "divisor");
        b.op("Div", &["mean", "divisor"], "sentence_embedding");
    }
}

/// `[outputs, inputs]` as `[outputs/16, inputs, 16]`.
fn in_panels(weight: &[f32], inputs: usize) -> Vec<f32> {
    let mut panels = Vec::with_capacity(weight.len());
    for rows in weight.chunks_exact(PANEL * inputs) {
        for input in 0..inputs {
            panels.extend((0..PANEL).map(|output| rows[output * inputs + input]));
        }
    }
    panels
}

/// `bias += weight · vector`, summed in double precision.
fn add_product(bias: &mut [f32], weight: &[f32], vector: &[f32]) {
    for (sum, row) in bias.iter_mut().zip(weight.chunks_exact(vector.len())) {
        let product: f64 = row
            .iter()
            .zip(vector)
            .map(|(&w, &v)| f64::from(w) * f64::from(v))
            .sum();
        *sum = (f64::from(*sum) + product) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_holds_16_outputs_side_by_side() {
        let inputs = 3;
        let weight: Vec<f32> = (0..2 * PANEL * inputs).map(|v| v as f32).collect();
        let panels = in_panels(&weight, inputs);
        // Panel 1, input 2, output 5 is row 16 + 5, column 2.
        let at = PANEL * inputs + 2 * PANEL + 5;
        assert_eq!(panels[at], weight[(PANEL + 5) * inputs + 2]);
        assert_eq!(panels.len(), weight.len());
    }

    #[test]
    fn the_bias_of_the_values_goes_through_the_output_weights() {
        let mut bias = [1.0, 2.0];
        add_product(&mut bias, &[1.0, 2.0, 3.0, 4.0], &[10.0, 1.0]);
        assert_eq!(bias, [13.0, 36.0]);
    }
}
