import Crypto

/// Hides credentials: of each only the beginning of its SHA-256 is shown, enough to tell two apart.
enum Redaction {
    /// What a text is. What is hidden in JSON leaves it JSON.
    enum Form { case json, other }

    /// Members, form fields and query parameters that carry a credential.
    static let names: Set<String> = [
        "access_token", "refresh_token", "oauth_token", "token", "code", "code_verifier", "device_code",
        "client_secret", "secret", "password", "passphrase", "api_key", "apikey", "authorization",
    ]

    static func value(_ value: String) -> String {
        "sha256:" + Hexadecimal.text(SHA256.hash(data: Array(value.utf8)).prefix(6))
    }

    /// Returns a text (JSON, a form or any other, whole or cut off) whose credentials are hidden: the values of members
    /// and fields of ``names``, however they are quoted.
    /// - Parameter secrets: are hidden wherever they are.
    static func text(_ text: String, alsoHiding secrets: [String] = []) -> String {
        let shown = Self.text(text, .other, names: names, by: value)
        return secrets.filter { $0.utf8.count > 3 }.reduce(shown) { $0.replacing($1, with: value($1)) }
    }

    /// Returns a text in which the values of members and fields of these names are replaced.
    static func text(_ text: String, _ form: Form, names: Set<String>, by hidden: (String) -> String) -> String {
        withoutActuallyEscaping(hidden) { hidden in
            var scanner = Scanner(bytes: Array(text.utf8), form, names: names, hidden: hidden)
            return String(decoding: scanner.redacted(), as: UTF8.self)
        }
    }

    /// Returns a request target whose query is redacted; `key` is where the people API takes its credential.
    static func target(_ target: String) -> String {
        guard let question = target.firstIndex(of: "?") else { return target }
        return target[..<question] + text(String(target[question...]), .other, names: names.union(["key"]), by: value)
    }
}

/// Finds `name: value` and `name=value` with or without quotes.
private struct Scanner {
    private static let quote = UInt8(ascii: "\"")
    private static let ends = Set("&,;)]} \t\r\n".utf8)

    let bytes: [UInt8]
    let form: Redaction.Form
    let names: Set<String>
    let hidden: (String) -> String
    private var position = 0
    private var written: [UInt8] = []

    init(bytes: [UInt8], _ form: Redaction.Form, names: Set<String>, hidden: @escaping (String) -> String) {
        self.bytes = bytes
        self.form = form
        self.names = names
        self.hidden = hidden
    }

    mutating func redacted() -> [UInt8] {
        written.reserveCapacity(bytes.count)
        while position < bytes.count {
            let start = position
            while position < bytes.count, Self.isWord(bytes[position]) { position += 1 }
            if position == start {
                position += 1
                written.append(bytes[start])
                continue
            }
            written += bytes[start..<position]
            guard position - start < 20 else { continue }
            let word = String(decoding: bytes[start..<position], as: UTF8.self).lowercased()
            if names.contains(word) { redactValue() }
        }
        return written
    }

    /// Copies what separates a name from its value, and hides the value. Without a separator nothing happens.
    private mutating func redactValue() {
        var next = position
        if next < bytes.count, bytes[next] == Self.quote { next += 1 }
        next = end(of: next) { $0 == UInt8(ascii: " ") }
        guard next < bytes.count, bytes[next] == UInt8(ascii: ":") || bytes[next] == UInt8(ascii: "=") else { return }
        next = end(of: next + 1) { $0 == UInt8(ascii: " ") }
        let isQuoted = next < bytes.count && bytes[next] == Self.quote
        if isQuoted { next += 1 }
        let end = isQuoted ? quotedEnd(from: next) : end(of: next) { !Self.ends.contains($0) && $0 != Self.quote }
        guard end > next else { return }
        let value = String(decoding: bytes[next..<end], as: UTF8.self)
        let isBare = form == .json && !isQuoted
        if isBare, ["null", "true", "false"].contains(value) || "[{".contains(value.prefix(1)) { return }
        written += bytes[position..<next]
        written += (isBare ? "\"\(hidden(value))\"" : hidden(value)).utf8
        position = end
    }

    private func end(of start: Int, where isPart: (UInt8) -> Bool) -> Int {
        bytes[min(start, bytes.count)...].firstIndex { !isPart($0) } ?? bytes.count
    }

    /// The next quote that no backslash precedes.
    private func quotedEnd(from start: Int) -> Int {
        var next = start
        while next < bytes.count, bytes[next] != Self.quote {
            next += bytes[next] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(next, bytes.count)
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
