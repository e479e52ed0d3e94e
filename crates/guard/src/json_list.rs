//! Lists in JSON answers, which are bounded while they are parsed. A short element can need many times
//! its bytes in memory.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Parses a list of at most `limit` elements. A missing list is empty.
pub(crate) fn json_list<'de, T: Deserialize<'de>>(
    text: Option<&'de RawValue>,
    limit: usize,
) -> Result<Vec<T>, String> {
    let Some(text) = text else { return Ok(Vec::new()) };
    let mut json = serde_json::Deserializer::from_str(text.get());
    let bounded = Bounded { limit, element: PhantomData };
    match json.deserialize_seq(bounded) {
        Ok((list, count)) if count == list.len() => Ok(list),
        Ok((_, count)) => Err(format!("expected at most {limit}, got {count}")),
        Err(problem) => Err(problem.to_string()),
    }
}

/// Parses the first elements of a list, and counts all.
struct Bounded<T> {
    limit: usize,
    element: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Bounded<T> {
    type Value = (Vec<T>, usize);

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(text, "a list of at most {}", self.limit)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while list.len() < self.limit {
            let Some(element) = elements.next_element()? else { break };
            list.push(element);
        }
        let mut count = list.len();
        while elements.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok((list, count))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static PARSED: Cell<usize> = const { Cell::new(0) };
    }

    /// An element that counts how many were parsed.
    struct Counted;

    impl<'de> Deserialize<'de> for Counted {
        fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Counted, D::Error> {
            PARSED.set(PARSED.get() + 1);
            IgnoredAny::deserialize(json).map(|_| Counted)
        }
    }

    /// Parses a list, and returns its length, or the problem, and how many elements were parsed.
    fn parse(text: &str, limit: usize) -> (Result<usize, String>, usize) {
        PARSED.set(0);
        let text: &RawValue = serde_json::from_str(text).expect("JSON");
        let list = json_list::<Counted>(Some(text), limit);
        (list.map(|list| list.len()), PARSED.get())
    }

    #[test]
    fn no_element_after_the_limit_is_parsed() {
        let empties = format!("[{}]", vec!["{}"; 1000].join(","));
        for limit in [0, 1, 999] {
            let problem = format!("expected at most {limit}, got 1000");
            assert_eq!(parse(&empties, limit), (Err(problem), limit));
        }
        for limit in [1000, 1001] {
            assert_eq!(parse(&empties, limit), (Ok(1000), 1000));
        }
        assert_eq!(parse("[]", 0), (Ok(0), 0));
        assert!(parse("{}", 9).0.expect_err("no list").contains("a list of at most 9"));
        assert!(matches!(json_list::<u8>(None, 0), Ok(list) if list.is_empty()));
    }
}
