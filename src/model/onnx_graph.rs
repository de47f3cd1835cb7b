//! Builds an ONNX graph node by node. Small constants go into the graph file. Weights go into a separate file, which
//! backends map instead of reading it.

use std::io::{self, Write};

use crate::onnx_proto::{self, Attribute, Entry, Node, Tensor, attribute_type};

/// Domain of the operators that ONNX Runtime adds to the standard ones.
pub(crate) const CONTRIB: &str = "com.microsoft";

/// Alignment of each weight: the runtime maps weights one by one, and a mapping starts at a page boundary.
const PAGE: u64 = 4096;

/// The weights file while it is being written, and the position of each weight in it.
pub(crate) struct WeightsFile<W: Write> {
    out: W,
    offset: u64,
    tensors: Vec<Tensor>,
}

impl<W: Write> WeightsFile<W> {
    pub fn new(out: W) -> Self {
        WeightsFile { out, offset: 0, tensors: Vec::new() }
    }

    /// Appends `values` as tensor `name` with shape `dims`.
    fn add(&mut self, name: &str, dims: &[usize], values: &[f32]) -> io::Result<()> {
        debug_assert_eq!(dims.iter().product::<usize>(), values.len());
        let padding = self.offset.next_multiple_of(PAGE) - self.offset;
        self.out.write_all(&vec![0; padding as usize])?;
        self.offset += padding;
        let bytes = little_endian(values);
        self.out.write_all(&bytes)?;
        let entry = |key: &str, value: String| Entry { key: key.to_owned(), value };
        self.tensors.push(Tensor {
            dims: dims.iter().map(|&d| d as i64).collect(),
            data_type: onnx_proto::FLOAT,
            name: name.to_owned(),
            external_data: vec![entry("offset", self.offset.to_string()), entry("length", bytes.len().to_string())],
            data_location: onnx_proto::EXTERNAL,
            ..Tensor::default()
        });
        self.offset += bytes.len() as u64;
        Ok(())
    }

    /// The output, and a function that returns the graph's tensors for weights in the file `location` next to the graph.
    pub fn finish(self) -> (W, impl FnOnce(&str) -> Vec<Tensor>) {
        let mut tensors = self.tensors;
        (self.out, move |location: &str| {
            for tensor in &mut tensors {
                tensor.external_data.insert(0, Entry { key: "location".to_owned(), value: location.to_owned() });
            }
            tensors
        })
    }
}

/// Nodes and constants of a graph under construction. Nodes have no names, because the runtime would keep several copies
/// of each name in every process.
pub(crate) struct GraphBuilder<'w, W: Write> {
    weights: &'w mut WeightsFile<W>,
    nodes: Vec<Node>,
    constants: Vec<Tensor>,
}

impl<'w, W: Write> GraphBuilder<'w, W> {
    pub fn new(weights: &'w mut WeightsFile<W>) -> Self {
        GraphBuilder { weights, nodes: Vec::new(), constants: Vec::new() }
    }

    /// Adds a node of the standard operator `op`.
    pub fn op(&mut self, op: &str, inputs: &[&str], output: &str) -> &mut Node {
        self.push("", op, inputs, &[output])
    }

    /// Adds a node of ONNX Runtime's own operator `op`.
    pub fn contrib(&mut self, op: &str, inputs: &[&str], output: &str) -> &mut Node {
        self.push(CONTRIB, op, inputs, &[output])
    }

    /// Adds a standard node with several outputs.
    pub fn op_many(&mut self, op: &str, inputs: &[&str], outputs: &[&str]) -> &mut Node {
        self.push("", op, inputs, outputs)
    }

    fn push(&mut self, domain: &str, op: &str, inputs: &[&str], outputs: &[&str]) -> &mut Node {
        let owned = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
        self.nodes.push(Node {
            input: owned(inputs),
            output: owned(outputs),
            name: String::new(),
            op_type: op.to_owned(),
            domain: domain.to_owned(),
            attribute: Vec::new(),
        });
        let last = self.nodes.len() - 1;
        &mut self.nodes[last]
    }

    /// Adds a one-dimensional constant of integers.
    pub fn ints(&mut self, name: &str, values: &[i64]) -> String {
        let raw = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.constant(name, onnx_proto::INT64, &[values.len()], raw)
    }

    /// Adds a small constant of floats with shape `dims` (`[]`: a scalar).
    pub fn floats(&mut self, name: &str, dims: &[usize], values: &[f32]) -> String {
        self.constant(name, onnx_proto::FLOAT, dims, little_endian(values))
    }

    /// Adds a large constant of floats to the weights file.
    pub fn weight(&mut self, name: &str, dims: &[usize], values: &[f32]) -> io::Result<String> {
        self.weights.add(name, dims, values)?;
        Ok(name.to_owned())
    }

    fn constant(&mut self, name: &str, data_type: i32, dims: &[usize], raw: Vec<u8>) -> String {
        self.constants.push(Tensor {
            dims: dims.iter().map(|&d| d as i64).collect(),
            data_type,
            name: name.to_owned(),
            raw_data: raw,
            ..Tensor::default()
        });
        name.to_owned()
    }

    /// The nodes, and the constants of the graph file.
    pub fn finish(self) -> (Vec<Node>, Vec<Tensor>) {
        (self.nodes, self.constants)
    }
}

impl Node {
    /// Adds an integer attribute.
    pub fn int(&mut self, name: &str, value: i64) -> &mut Self {
        self.attribute.push(Attribute {
            name: name.to_owned(),
            i: value,
            r#type: attribute_type::INT,
            ..Attribute::default()
        });
        self
    }

    /// Adds an attribute with a list of integers.
    pub fn ints(&mut self, name: &str, values: &[i64]) -> &mut Self {
        self.attribute.push(Attribute {
            name: name.to_owned(),
            ints: values.to_vec(),
            r#type: attribute_type::INTS,
            ..Attribute::default()
        });
        self
    }

    /// Adds a float attribute.
    pub fn float(&mut self, name: &str, value: f32) -> &mut Self {
        self.attribute.push(Attribute {
            name: name.to_owned(),
            f: value,
            r#type: attribute_type::FLOAT,
            ..Attribute::default()
        });
        self
    }
}

fn little_endian(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_start_on_pages_and_record_their_position() {
        let mut weights = WeightsFile::new(Vec::new());
        weights.add("a", &[3], &[1.0, 2.0, 3.0]).unwrap();
        weights.add("b", &[1, 1], &[4.0]).unwrap();
        let (bytes, tensors) = weights.finish();
        assert_eq!(bytes.len(), 4096 + 4);
        assert_eq!(bytes[4096..], 4.0f32.to_le_bytes());
        let tensors = tensors("file");
        let entries: Vec<_> = tensors[1].external_data.iter().map(|e| (e.key.as_str(), e.value.as_str())).collect();
        assert_eq!(entries, [("location", "file"), ("offset", "4096"), ("length", "4")]);
        assert_eq!(tensors[1].dims, [1, 1]);
    }
}
