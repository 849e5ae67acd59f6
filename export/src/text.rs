//! Texts in JSON.

/// A text as JSON, with its quotes.
pub(crate) fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
