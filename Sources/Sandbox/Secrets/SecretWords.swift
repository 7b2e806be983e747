import Foundation

/// The words of a text that may be tokens or keys, and what they look like.
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

    /// What tokens and keys of well-known services begin with.
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

    /// Returns what a word is if its form says that it is a secret; nil for all others.
    static func kind(of word: some StringProtocol) -> String? {
        guard word.utf8.count >= shortest, word.utf8.contains(where: \.isDigit) else { return nil }
        if word.hasPrefix("eyJ") {
            let parts = word.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count >= 3 && parts[1].utf8.count >= 4 ? "a JSON Web Token" : nil
        }
        guard let (prefix, kind) = prefixes.first(where: { word.hasPrefix($0.0) }) else { return nil }
        let rest = word.dropFirst(prefix.count)
        // The identity of a key of AWS is in capitals.
        if prefix.hasSuffix("IA") { return rest.utf8.count == 16 && !rest.utf8.contains(where: \.isLower) ? kind : nil }
        return rest.utf8.count >= 16 ? kind : nil
    }

    /// Returns what a word looks like if it may be a secret: random letters and digits.
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
        // In words and numbers, neighbours are mostly of one kind.
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
