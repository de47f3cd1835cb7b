//! A model loaded into ONNX Runtime: takes token ids, returns one vector per text.

use std::path::Path;

use ndarray::{ArrayView2, ArrayView3};
use ort::environment::Environment;
use ort::ep;
use ort::logging::LogLevel;
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use ort::session::{RunOptions, Session, SessionInputValue};
use ort::value::{Outlet, TensorElementType, TensorRef, ValueType};

use crate::error::EmbedError;
use crate::pooling;

/// How a model is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Lets the runtime keep private copies of the weights, rearranged for speed. Useful for a process that loads the
    /// model and then forks. Has no effect on the model that `nl2sql-model` writes, whose weights are stored that way.
    pub prepack: bool,
}

/// The kind of output that a graph returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pooling {
    /// `[texts, dimension]`.
    Pooled,
    /// `[texts, tokens, dimension]`: take the mean over the tokens here.
    Mean,
}

/// What an input of the graph holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    Ids,
    Mask,
    Types,
}

pub(crate) struct Model {
    session: Session,
    inputs: Vec<(String, Input)>,
    output: usize,
    pooling: Pooling,
    dimension: usize,
    /// Options of a run that frees the runtime's spare memory when it ends.
    last: RunOptions,
}

impl Model {
    /// Loads the graph at `path`. `optimized` means that the runtime need not optimize it.
    ///
    /// # Errors
    /// `Unexpected` when it is not an ONNX model of this kind; `Inference` when only a run can tell its dimension and
    /// the run fails.
    pub fn open(
        environment: &Environment,
        path: &Path,
        optimized: bool,
        options: LoadOptions,
    ) -> Result<Self, EmbedError> {
        let expected = "an ONNX model of sentence embeddings";
        let session = builder(environment, optimized, options)
            .and_then(|mut builder| builder.commit_from_file(path))
            .map_err(|error| EmbedError::unexpected(path, expected, error.to_string()))?;
        let unexpected = |found: String| EmbedError::unexpected(path, expected, found);
        let inputs = inputs(session.inputs()).map_err(unexpected)?;
        let (output, pooling, dimension) = output(session.outputs()).map_err(unexpected)?;
        let mut model = Model {
            session,
            inputs,
            output,
            pooling,
            dimension: dimension.unwrap_or(0),
            last: last_run().map_err(EmbedError::inference)?,
        };
        if dimension.is_none() {
            let vectors = model.run(&[&[0, 0]], false)?;
            model.dimension = vectors.first().map_or(0, Vec::len);
        }
        Ok(model)
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Runs the graph on one or more texts of the same length. Returns a vector of length 1 for each. With `last`, the
    /// runtime then frees the memory that it has reserved for longer runs.
    ///
    /// # Errors
    /// `Inference`.
    pub fn run(&mut self, texts: &[&[u32]], last: bool) -> Result<Vec<Vec<f32>>, EmbedError> {
        let shape = [texts.len(), texts.first().map_or(0, |text| text.len())];
        let ids: Vec<i64> = texts.concat().into_iter().map(i64::from).collect();
        if ids.len() != shape[0] * shape[1] {
            return Err(EmbedError::inference("a batch has texts of different lengths"));
        }
        let ones = vec![1; ids.len()];
        let zeros = vec![0; if self.takes(Input::Types) { ids.len() } else { 0 }];
        let mut values: Vec<(&str, SessionInputValue)> = Vec::with_capacity(3);
        for (name, input) in &self.inputs {
            let data = match input {
                Input::Ids => &ids,
                Input::Mask => &ones,
                Input::Types => &zeros,
            };
            let tensor = TensorRef::from_array_view((shape, data.as_slice())).map_err(EmbedError::inference)?;
            values.push((name, tensor.into()));
        }
        let outputs = if last { self.session.run_with_options(values, &self.last) } else { self.session.run(values) };
        let outputs = outputs.map_err(EmbedError::inference)?;
        let (dims, data) = outputs[self.output].try_extract_tensor::<f32>().map_err(EmbedError::inference)?;
        let dims: Vec<usize> = dims.iter().map(|&d| d as usize).collect();
        let vectors = vectors(self.pooling, &dims, data)
            .filter(|vectors| vectors.len() == texts.len())
            .ok_or_else(|| EmbedError::inference(format!("an output of shape {dims:?} for {shape:?} tokens")))?;
        if vectors.iter().flatten().all(|component| component.is_finite()) {
            Ok(vectors)
        } else {
            Err(EmbedError::inference("a component is not a number"))
        }
    }

    fn takes(&self, input: Input) -> bool {
        self.inputs.iter().any(|(_, taken)| *taken == input)
    }
}

fn builder(environment: &Environment, optimized: bool, options: LoadOptions) -> ort::Result<SessionBuilder> {
    let level = if optimized { GraphOptimizationLevel::Disable } else { GraphOptimizationLevel::All };
    Ok(Session::builder(environment)?
        .with_log_level(LogLevel::Fatal)?
        // Only the caller's thread: the runtime then starts none.
        .with_intra_threads(1)?
        .with_inter_threads(1)?
        .with_parallel_execution(false)?
        .with_intra_op_spinning(false)?
        .with_inter_op_spinning(false)?
        .with_optimization_level(level)?
        .with_prepacking(options.prepack)?
        // Lengths vary from run to run, so a memory plan for one length does not help the next run.
        .with_memory_pattern(false)?
        // The arena saves page faults for short texts. Memory for long texts is freed after the run.
        .with_execution_providers([ep::CPU::default().with_arena_allocator(true).build()])?)
}

fn last_run() -> ort::Result<RunOptions> {
    let mut options = RunOptions::new()?;
    options.set("memory.enable_memory_arena_shrinkage", "cpu:0")?;
    Ok(options)
}

/// The inputs of a graph, in the graph's order.
fn inputs(outlets: &[Outlet]) -> Result<Vec<(String, Input)>, String> {
    let mut inputs = Vec::new();
    for outlet in outlets {
        let input = match outlet.name() {
            "input_ids" => Input::Ids,
            "attention_mask" => Input::Mask,
            "token_type_ids" => Input::Types,
            other => return Err(format!("an input named {other:?}")),
        };
        match outlet.dtype() {
            ValueType::Tensor { ty: TensorElementType::Int64, .. } => {}
            other => return Err(format!("input {:?} of type {other}", outlet.name())),
        }
        inputs.push((outlet.name().to_owned(), input));
    }
    if !inputs.iter().any(|(_, input)| *input == Input::Ids) {
        return Err("no input named \"input_ids\"".to_owned());
    }
    Ok(inputs)
}

/// The output to use, how to pool it, and its last dimension if that is fixed. Prefers a pooled output, by name or by
/// shape.
fn output(outlets: &[Outlet]) -> Result<(usize, Pooling, Option<usize>), String> {
    let candidates = outlets.iter().enumerate().filter_map(|(index, outlet)| {
        let ValueType::Tensor { ty: TensorElementType::Float32, shape, .. } = outlet.dtype() else {
            return None;
        };
        let dimension = shape.last().and_then(|&d| usize::try_from(d).ok());
        let dimension = dimension.filter(|&d| d > 0);
        match (outlet.name(), shape.len()) {
            ("sentence_embedding", 2) => Some((0, index, Pooling::Pooled, dimension)),
            ("last_hidden_state" | "token_embeddings", 3) => Some((1, index, Pooling::Mean, dimension)),
            (_, 3) => Some((2, index, Pooling::Mean, dimension)),
            // BERT's `pooler_output` is not trained for similarity.
            (name, 2) if name != "pooler_output" => Some((3, index, Pooling::Pooled, dimension)),
            _ => None,
        }
    });
    let best = candidates.min_by_key(|candidate| (candidate.0, candidate.1));
    best.map(|(_, index, pooling, dimension)| (index, pooling, dimension)).ok_or_else(|| {
        let names: Vec<_> = outlets.iter().map(Outlet::name).collect();
        format!("no output of token or sentence embeddings among {names:?}")
    })
}

fn vectors(pooling: Pooling, dims: &[usize], data: &[f32]) -> Option<Vec<Vec<f32>>> {
    match (pooling, dims) {
        (Pooling::Pooled, &[texts, dimension]) => {
            let view = ArrayView2::from_shape((texts, dimension), data).ok()?;
            Some(pooling::normalized_rows(view))
        }
        (Pooling::Mean, &[texts, tokens, dimension]) => {
            let view = ArrayView3::from_shape((texts, tokens, dimension), data).ok()?;
            Some(pooling::mean_over_tokens(view))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_of_another_shape_is_not_a_vector() {
        assert_eq!(vectors(Pooling::Pooled, &[1, 2], &[0.0, 2.0]), Some(vec![vec![0.0, 1.0]]));
        assert_eq!(vectors(Pooling::Mean, &[1, 2, 2], &[0.0, 1.0, 0.0, 3.0]), Some(vec![vec![0.0, 1.0]]));
        assert_eq!(vectors(Pooling::Mean, &[1, 2], &[0.0, 2.0]), None);
        assert_eq!(vectors(Pooling::Pooled, &[2, 2], &[0.0, 2.0]), None);
    }
}
