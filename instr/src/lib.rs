//! The instr command: summary, merge, graph, symbolize
