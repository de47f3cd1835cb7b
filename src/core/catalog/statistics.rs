//! Statistics of a column, collected in one pass over its table.

use cardinality_estimator::CardinalityEstimator;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Up to this many distinct values are counted exactly.
const EXACT: usize = 10_000;
/// A column with at most this many distinct values has all of them stored, …
const ALL_VALUES: usize = 50;
/// … any other column only its most frequent values.
const MOST_FREQUENT: usize = 5;
/// Longer values are not stored: a question does not name them. In characters.
const LONGEST_VALUE: usize = 200;

/// Returns a hash unchanged: the values are well mixed already.
#[derive(Default)]
pub(crate) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Counts distinct values by their 64-bit hashes: exactly up to 10,000, then by HyperLogLog (Flajolet et al. 2007) with
/// 2^14 registers, standard error 0.8 %. The order of values does not matter.
#[derive(Default)]
pub struct DistinctCounter {
    exact: HashSet<u64, BuildHasherDefault<IdentityHasher>>,
    sketch: Option<CardinalityEstimator<u64, IdentityHasher, 14, 6>>,
    last: Option<u64>,
}

impl DistinctCounter {
    pub fn add(&mut self, hash: u64) {
        // Neighboring rows often repeat a value.
        if self.last.replace(hash) == Some(hash) {
            return;
        }
        if let Some(sketch) = &mut self.sketch {
            sketch.insert_hash(hash);
        } else if self.exact.insert(hash) && self.exact.len() > EXACT {
            let mut sketch = CardinalityEstimator::new();
            self.exact.drain().for_each(|hash| sketch.insert_hash(hash));
            self.exact.shrink_to_fit();
            self.sketch = Some(sketch);
        }
    }

    /// The number of distinct values, and whether it is an estimate. `values` is the number of values, which an
    /// estimate does not exceed.
    pub fn count(&self, values: u64) -> (u64, bool) {
        match &self.sketch {
            None => (self.exact.len() as u64, false),
            Some(sketch) => ((sketch.estimate() as u64).min(values), true),
        }
    }
}

/// Counts values: exactly up to 10,000 distinct ones. Beyond that, the median count is subtracted from all counts and
/// values without a count are dropped, which keeps the frequent ones (Misra and Gries 1982, in batches).
#[derive(Default)]
pub struct FrequentValues {
    counts: HashMap<Box<str>, u64>,
    too_long: bool,
    forgotten: bool,
}

impl FrequentValues {
    pub fn add(&mut self, text: &str) {
        if text.len() > LONGEST_VALUE && text.chars().nth(LONGEST_VALUE).is_some() {
            self.too_long = true;
        } else if let Some(count) = self.counts.get_mut(text) {
            *count += 1;
        } else {
            self.counts.insert(text.into(), 1);
            if self.counts.len() > EXACT {
                self.forget();
            }
        }
    }

    fn forget(&mut self) {
        let mut counts: Vec<u64> = self.counts.values().copied().collect();
        let middle = counts.len() / 2;
        let median = *counts.select_nth_unstable(middle).1;
        self.counts.retain(|_, count| {
            *count = count.saturating_sub(median);
            *count > 0
        });
        self.forgotten = true;
    }

    /// All values if there are at most 50, else the five most frequent; most frequent first, ties by value.
    pub fn values(self) -> Vec<String> {
        let all = self.counts.len() <= ALL_VALUES && !self.too_long && !self.forgotten;
        let mut counted: Vec<(Box<str>, u64)> = self.counts.into_iter().collect();
        counted.sort_unstable_by(|(a, times_a), (b, times_b)| times_b.cmp(times_a).then_with(|| a.cmp(b)));
        if !all {
            counted.truncate(MOST_FREQUENT);
        }
        counted.into_iter().map(|(value, _)| value.into()).collect()
    }
}

/// Selects from `pg_stats.most_common_vals` and their frequencies: all values if they are `complete` and at most 50, else
/// the five most frequent.
pub fn common_values(values: Vec<String>, frequencies: &[f64], complete: bool) -> Vec<String> {
    let mut counted: Vec<(String, f64)> = values
        .into_iter()
        .zip(frequencies.iter().copied())
        .filter(|(value, _)| value.chars().nth(LONGEST_VALUE).is_none())
        .collect();
    counted.sort_by(|(a, share_a), (b, share_b)| share_b.total_cmp(share_a).then_with(|| a.cmp(b)));
    if !complete || counted.len() > ALL_VALUES {
        counted.truncate(MOST_FREQUENT);
    }
    counted.into_iter().map(|(value, _)| value).collect()
}

/// Statistics of a column's values. A field is absent if it does not apply or could not be read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Statistics {
    /// Share of nulls from 0 to 1; absent for a table without rows.
    pub null_share: Option<f64>,
    pub distinct_count: Option<u64>,
    /// The counts are estimates.
    pub estimated: bool,
    pub min: Option<String>,
    pub max: Option<String>,
    pub values: Option<Vec<String>>,
}

impl Statistics {
    /// The share of nulls, rounded to four digits; `None` without rows.
    pub fn null_share(nulls: u64, rows: u64) -> Option<f64> {
        (rows > 0).then(|| (nulls as f64 / rows as f64 * 1e4).round() / 1e4)
    }

    /// The form that a snapshot stores: without absent fields, and with `estimated` only if true.
    pub fn into_map(self) -> Map<String, Value> {
        let mut map = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                map.insert(name.to_owned(), value);
            }
        };
        put("null_share", self.null_share.map(Value::from));
        put("distinct_count", self.distinct_count.map(Value::from));
        put("estimated", self.estimated.then_some(Value::Bool(true)));
        put("min", self.min.map(|text| shortened(&text).into()));
        put("max", self.max.map(|text| shortened(&text).into()));
        put("values", self.values.filter(|values| !values.is_empty()).map(Value::from));
        map
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_VALUE) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Mixes as a good hash would (the finaliser of SplitMix64).
    fn hash(n: u64) -> u64 {
        let mut z = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    #[test]
    fn few_distinct_values_are_counted_exactly() {
        let mut distinct = DistinctCounter::default();
        (0..50_000).for_each(|n| distinct.add(hash(n % 10_000)));
        assert_eq!(distinct.count(50_000), (10_000, false));
    }

    #[test]
    fn many_are_estimated_whatever_their_order() {
        for many in [10_001_u64, 50_000, 400_000] {
            let (mut up, mut down) = (DistinctCounter::default(), DistinctCounter::default());
            (0..many).for_each(|n| up.add(hash(n)));
            (0..many).rev().for_each(|n| down.add(hash(n)));
            let (count, estimated) = up.count(many);
            assert!(estimated && count.abs_diff(many) <= many / 25, "{count} for {many}");
            assert_eq!(down.count(many), (count, true));
        }
    }

    #[test]
    fn values_come_most_frequent_first() {
        let mut few = FrequentValues::default();
        ["b", "a", "c", "b", "c"].into_iter().for_each(|text| few.add(text));
        assert_eq!(few.values(), ["b", "c", "a"]);
        let mut fifty = FrequentValues::default();
        (0..50).for_each(|n| fifty.add(&format!("{n:02}")));
        assert_eq!(fifty.values().len(), 50);
        let mut more = FrequentValues::default();
        (0..51).chain(40..51).for_each(|n| more.add(&format!("{n:02}")));
        assert_eq!(more.values(), ["40", "41", "42", "43", "44"]);
    }

    #[test]
    fn the_frequent_survive_among_many() {
        let mut frequent = FrequentValues::default();
        for n in 0..100_000 {
            frequent.add(&format!("rare {n}"));
            if n % 10 == 0 {
                frequent.add("often");
            }
            if n % 20 == 0 {
                frequent.add("sometimes");
            }
        }
        let values = frequent.values();
        assert_eq!(values[..2], ["often", "sometimes"]);
        assert_eq!(values.len(), 5);
    }

    #[test]
    fn a_long_text_is_no_value() {
        let mut frequent = FrequentValues::default();
        frequent.add(&"é".repeat(201));
        frequent.add(&"é".repeat(200));
        assert_eq!(frequent.values(), ["é".repeat(200)]);
    }

    #[test]
    fn common_values_of_the_catalogue() {
        let texts = |count: usize| (0..count).map(|n| format!("{n:02}")).collect::<Vec<_>>();
        assert_eq!(common_values(texts(3), &[0.2, 0.5, 0.2], true), ["01", "00", "02"]);
        assert_eq!(common_values(texts(9), &[0.1; 9], false).len(), 5);
    }

    #[test]
    fn what_does_not_apply_is_left_out() {
        assert_eq!(Value::Object(Statistics::default().into_map()), json!({}));
        let known = Statistics {
            null_share: Statistics::null_share(1, 3),
            distinct_count: Some(2),
            estimated: true,
            min: Some("1".into()),
            max: Some("x".repeat(300)),
            values: Some(vec![]),
        };
        let shown = format!("{}…", "x".repeat(200));
        assert_eq!(
            Value::Object(known.into_map()),
            json!({"null_share": 0.3333, "distinct_count": 2, "estimated": true, "min": "1", "max": shown})
        );
        assert_eq!(Statistics::null_share(0, 0), None);
    }
}
