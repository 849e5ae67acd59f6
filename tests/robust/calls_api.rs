extern "C" {
    pub fn outer(how: c_int) -> c_long;
    pub fn inner(how: c_int) -> c_long;
    pub fn leave(how: c_int) -> c_long;
}
