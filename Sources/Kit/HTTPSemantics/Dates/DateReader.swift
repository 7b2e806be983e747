/// Reads the parts of a date, one after another.
struct DateReader {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = Substring(text).utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Takes this character if it is next, and returns whether it was.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// Takes a run of letters and returns it in lower case; nil if there is none.
    mutating func letters() -> String? {
        let run = rest.prefix { ($0 | 0x20) >= UInt8(ascii: "a") && ($0 | 0x20) <= UInt8(ascii: "z") }
        guard !run.isEmpty else { return nil }
        rest = rest.dropFirst(run.count)
        return String(decoding: run.map { $0 | 0x20 }, as: UTF8.self)
    }

    /// Takes a number of exactly this many digits; a further digit is refused by the next step.
    mutating func number(digits: Int) -> Int? {
        let run = rest.prefix(digits)
        guard run.count == digits, run.allSatisfy(\.isASCIIDigit) else { return nil }
        rest = rest.dropFirst(digits)
        return run.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
