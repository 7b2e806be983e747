import Foundation
import JSONValues

/// Texts that are searched for together, in one pass over bytes: each secret in plain form and in the encodings of
/// other formats.
struct SecretPatterns: Sendable {
    private struct Pattern {
        let bytes: [UInt8]
        let secret: String
    }

    private(set) var secrets: Set<String> = []
    /// By their first two bytes; the longest first.
    private var patterns: [UInt16: [Pattern]] = [:]
    /// A bit for each pair of bytes with which a pattern begins; empty without patterns.
    private var starts: [UInt64] = []

    var isEmpty: Bool { secrets.isEmpty }

    mutating func add(_ secret: String) {
        guard secret.utf8.count > 3, secrets.insert(secret).inserted else { return }
        if starts.isEmpty { starts = Array(repeating: 0, count: 1 << 10) }
        for bytes in Self.spellings(of: secret) {
            let start = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
            starts[Int(start >> 6)] |= 1 << UInt64(start & 63)
            patterns[start, default: []].append(Pattern(bytes: bytes, secret: secret))
            patterns[start]?.sort { $0.bytes.count > $1.bytes.count }
        }
    }

    /// Returns the bytes with every secret replaced; nil if there is none.
    func replaced(in bytes: [UInt8], by placeholder: (String) -> String) -> [UInt8]? {
        guard !isEmpty, bytes.count > 3 else { return nil }
        var (written, position, copied) = ([UInt8](), 0, 0)
        bytes.withUnsafeBufferPointer { bytes in
            while position + 1 < bytes.count {
                guard let found = match(bytes, at: position) else {
                    position += 1
                    continue
                }
                written += bytes[copied..<position]
                written += placeholder(found.secret).utf8
                position += found.bytes.count
                copied = position
            }
        }
        return copied == 0 ? nil : written + bytes[copied...]
    }

    private func match(_ bytes: UnsafeBufferPointer<UInt8>, at position: Int) -> Pattern? {
        let start = UInt16(bytes[position]) << 8 | UInt16(bytes[position + 1])
        guard starts[Int(start >> 6)] & (1 << UInt64(start & 63)) != 0 else { return nil }
        return patterns[start]?.first { pattern in
            pattern.bytes.count <= bytes.count - position
                && bytes[position..<position + pattern.bytes.count].elementsEqual(pattern.bytes)
        }
    }

    /// The secret, percent-encoded, escaped for JSON and HTML, and as a part of Base64.
    private static func spellings(of secret: String) -> Set<[UInt8]> {
        var texts = [
            secret, secret.replacing("/", with: "\\/"),
            String(decoding: JSONValue.string(secret).json.utf8.dropFirst().dropLast(), as: UTF8.self),
            secret.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
                .replacing("\"", with: "&quot;").replacing("'", with: "&#39;"),
        ]
        let percent = FormEncoding.encoded(secret)
        texts += [percent, percent.replacing("+", with: "%20")]
        texts += [
            percent.replacing(/%[0-9A-F]{2}/) { $0.output.lowercased() },
            percent.replacing("+", with: "%20").replacing(/%[0-9A-F]{2}/) { $0.output.lowercased() },
        ]
        var spellings = Set(texts.map { Array($0.utf8) })
        for shift in 0..<3 {
            let standard = base64(Array(secret.utf8), after: shift)
            guard standard.count >= 6 else { continue }
            spellings.insert(standard)
            spellings.insert(standard.map { $0 == UInt8(ascii: "+") ? 0x2D : $0 == UInt8(ascii: "/") ? 0x5F : $0 })
        }
        return spellings
    }

    /// The letters of Base64 that depend on the secret alone, if `shift` bytes precede it.
    private static func base64(_ secret: [UInt8], after shift: Int) -> [UInt8] {
        let text = Data(repeatElement(0, count: shift) + secret).base64EncodedString()
        let letters = (8 * shift + 5) / 6..<8 * (shift + secret.count) / 6
        return letters.isEmpty ? [] : Array(Array(text.utf8)[letters])
    }
}

/// The words of a text that may be tokens or keys, and their likely kind.
struct SecretWords: Sequence {
    /// Least bytes of a word.
    private static let shortest = 16

    private let text: String

    init(_ text: String) { self.text = text }

    func makeIterator() -> AnyIterator<Substring> {
        let bytes = text.utf8
        var position = bytes.startIndex
        return AnyIterator {
            while position < bytes.endIndex {
                let start = position
                while position < bytes.endIndex, Self.isWord(bytes[position]) { bytes.formIndex(after: &position) }
                var word = text[start..<position]
                while word.last == "." { word.removeLast() }
                if position < bytes.endIndex { bytes.formIndex(after: &position) }
                if word.utf8.count >= Self.shortest { return word }
            }
            return nil
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte.isLower || byte.isUpper || byte.isDigit || [0x2B, 0x2D, 0x2E, 0x5F].contains(byte)
    }

    /// Prefixes of tokens and keys of well-known services.
    private static let prefixes: [(String, String)] = [
        ("ghp_", "a token of GitHub"), ("gho_", "a token of GitHub"), ("ghs_", "a token of GitHub"),
        ("ghu_", "a token of GitHub"), ("ghr_", "a token of GitHub"), ("github_pat_", "a token of GitHub"),
        ("glpat-", "a token of GitLab"), ("xoxb-", "a token of Slack"), ("xoxp-", "a token of Slack"),
        ("xoxa-", "a token of Slack"), ("xoxs-", "a token of Slack"), ("sk_live_", "a key of Stripe"),
        ("rk_live_", "a key of Stripe"), ("sk_test_", "a key of Stripe"), ("sk-proj-", "a key of OpenAI"),
        ("sk-ant-", "a key of Anthropic"), ("AKIA", "a key of AWS"), ("ASIA", "a key of AWS"),
        ("AIza", "a key of Google"), ("ya29.", "a token of Google"), ("y0_", "a token of Yandex"),
        ("SG.", "a key of SendGrid"), ("npm_", "a token of npm"), ("pypi-", "a token of PyPI"),
        ("hf_", "a token of Hugging Face"), ("dop_v1_", "a token of DigitalOcean"), ("shpat_", "a token of Shopify"),
    ]

    /// Returns the kind of a secret that the form of a word shows; nil for all others.
    static func kind(of word: some StringProtocol) -> String? {
        guard word.utf8.count >= shortest, word.utf8.contains(where: \.isDigit) else { return nil }
        if word.hasPrefix("eyJ") {
            let parts = word.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count >= 3 && parts[1].utf8.count >= 4 ? "a JSON Web Token" : nil
        }
        guard let (prefix, kind) = prefixes.first(where: { word.hasPrefix($0.0) }) else { return nil }
        let rest = word.dropFirst(prefix.count)
        // Identifiers of AWS keys consist of capitals.
        if prefix.hasSuffix("IA") { return rest.utf8.count == 16 && !rest.utf8.contains(where: \.isLower) ? kind : nil }
        return rest.utf8.count >= 16 ? kind : nil
    }

    /// Returns the likely kind of a word that may be a secret: random letters and digits.
    static func suspicion(of word: some StringProtocol) -> String? {
        if let kind = kind(of: word) { return "looks like \(kind)" }
        let bytes = Array(word.utf8)
        guard bytes.count >= 20, !Secrets.isPlaceholder(String(word)) else { return nil }
        let digits = bytes.count(where: \.isDigit)
        let isHexadecimal = bytes.allSatisfy { $0.isDigit || (0x61...0x66).contains($0 | 0x20) }
        if isHexadecimal {
            let isRandom = bytes.count >= 32 && digits >= 4 && digits < bytes.count - 4
            return isRandom ? "has \(bytes.count) hexadecimal digits" : nil
        }
        guard digits >= 2, bytes.contains(where: \.isUpper), bytes.contains(where: \.isLower) else { return nil }
        // In words and numbers, most neighbouring characters are of one kind.
        let kinds = bytes.map { $0.isDigit ? 0 : $0.isUpper ? 1 : $0.isLower ? 2 : 3 }
        let changes = zip(kinds, kinds.dropFirst()).count { $0 != $1 }
        guard changes * 20 >= bytes.count * 9, entropy(bytes) >= 3.5 else { return nil }
        return "has \(bytes.count) random letters and digits"
    }

    /// In bits for each byte (Shannon).
    private static func entropy(_ bytes: [UInt8]) -> Double {
        let counts = bytes.reduce(into: [UInt8: Double]()) { $0[$1, default: 0] += 1 }
        return counts.values.reduce(0) { sum, count in
            let share = count / Double(bytes.count)
            return sum - share * log2(share)
        }
    }
}
