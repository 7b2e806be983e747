import TestKit

extension SeededRandom {
    /// Returns true once in `times` times on average.
    mutating func once(in times: Int) -> Bool { Int.random(in: 0..<times, using: &self) == 0 }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    /// One of these, or a default for none.
    mutating func one<Value>(of values: [Value], or none: Value) -> Value { values.randomElement(using: &self) ?? none }

    mutating func text(of values: [String]) -> String { one(of: values, or: "") }
}
