import Foundation
import HTTPTypes

/// Replaces secrets in all stored and shown messages: recordings, journals, archives.
struct SecretCleaner: Sendable {
    /// The base URL of the upstream. Identities in paths below it do not count as signatures.
    let base: String
    let secrets: Secrets
    /// Whether the result is stored. Secrets get numbers only then.
    private(set) var isWritten = true
    /// Whether the signatures of links to other hosts are kept.
    private var keepsLinks = false
    /// Secrets of a request that is only compared.
    private var own = SecretPatterns()

    init(base: String = "", secrets: Secrets) { (self.base, self.secrets) = (base, secrets) }

    /// Returns a cleaner for a request that is compared with files and not stored.
    func comparing(_ fields: HTTPFields, _ target: String) -> SecretCleaner {
        var cleaner = self
        cleaner.isWritten = false
        for secret in Self.credentials(fields, target) { cleaner.own.add(secret) }
        return cleaner
    }

    /// The cleaner, but the signatures of links are kept.
    var keepingLinks: SecretCleaner {
        var cleaner = self
        cleaner.keepsLinks = true
        return cleaner
    }

    /// Replaces the credentials of a request from now on, wherever they occur.
    func learn(_ fields: HTTPFields, _ target: String) {
        for secret in Self.credentials(fields, target) { secrets.learn(secret) }
    }

    // MARK: Parts of messages

    /// Returns a value of a header field without its secrets.
    func value(_ value: String, ofField name: String) -> String {
        switch name {
        case "authorization", "proxy-authorization":
            guard !secrets.areHashed, let space = value.firstIndex(of: " ") else { return hidden(value) }
            return value[...space] + hidden(String(value[value.index(after: space)...]))
        case "cookie", "set-cookie":
            if secrets.areHashed { return hidden(value) }
            let parts = value.split(separator: ";", omittingEmptySubsequences: false)
            let shown = parts.enumerated().map { index, part in
                guard name == "cookie" || index == 0, let equals = part.firstIndex(of: "=") else { return String(part) }
                return part[...equals] + hidden(String(part[part.index(after: equals)...]))
            }
            return shown.joined(separator: ";")
        case _ where SecretName.extent(of: name, in: .field) != .nothing: return hidden(value)
        default: return text(value)
        }
    }

    /// Returns a request target or an absolute URL without its secrets.
    func target(_ target: String) -> String {
        if let mark = target.firstIndex(of: "#") {
            return self.target(String(target[..<mark])) + "#"
                + form(String(target[target.index(after: mark)...]), .query)
        }
        var parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let isElsewhere = !target.hasPrefix("/") && (base.isEmpty || !target.hasPrefix(base))
        let isKept = isElsewhere && keepsLinks
        if !isKept { parts[0] = isElsewhere ? path(parts[0]) : knownPath(parts[0]) }
        if parts.count > 1 { parts[1] = form(parts[1], .query, keepsSignatures: isKept) }
        return withoutKnown(parts.joined(separator: "?"))
    }

    /// Replaces the signatures in the path of an absolute URL, and removes its user information.
    private func path(_ url: String) -> String {
        var segments = url.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard segments.count > 2 else { return url }
        if let at = segments[2].lastIndex(of: "@") {
            segments[2] = String(segments[2][segments[2].index(after: at)...])
        }
        for index in segments.indices.dropFirst(3) where SecretName.isSignature(segment: segments[index]) {
            segments[index] = secrets.placeholder(segments[index], isWritten: isWritten)
        }
        return segments.joined(separator: "/")
    }

    /// Replaces the signature in the path of a link: the host of a link may be an upstream itself.
    private func knownPath(_ path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            SecretName.isSignature(segment: String(segment)) ? secrets.known(String(segment)) : String(segment)
        }.joined(separator: "/")
    }

    /// Returns `name=value&…` without its secrets; a text without any keeps its spelling.
    func form(_ text: String, _ place: SecretName.Place, depth: Int = 0, keepsSignatures: Bool = false) -> String {
        text.split(separator: "&", omittingEmptySubsequences: false).map { item in
            guard let equals = item.firstIndex(of: "="), equals < item.index(before: item.endIndex) else {
                return String(item)
            }
            let (name, value) = (item[..<equals], item[item.index(after: equals)...])
            let spaced = String(place == .query ? value : value.replacing("+", with: " "))
            let decoded = spaced.removingPercentEncoding ?? spaced
            // In HTML the separator is `&amp;`.
            let plain = (name.removingPercentEncoding ?? String(name)).split(separator: ";").last ?? ""
            guard SecretName.extent(of: plain, in: place) == .nothing else {
                // The signature of a link is not a credential of the request.
                let isCredential = SecretName.extent(of: plain, in: .form) != .nothing
                if keepsSignatures, !isCredential || plain == "token" { return String(item) }
                return "\(name)=" + (isCredential ? hidden(decoded) : placeholder(decoded))
            }
            let shown = self.text(decoded, depth: depth)
            if shown == decoded { return String(item) }
            return "\(name)=" + (value.contains("%") ? FormEncoding.encoded(shown) : shown)
        }.joined(separator: "&")
    }

    // MARK: Texts

    private static var link: Regex<(Substring, Substring, Substring)> {
        /https?:(\/\/|\\\/\\\/)([^\s"'<>\\]|\\\/)+/
    }

    private static let schemes = ["bearer ", "basic ", "oauth ", "token ", "apikey "]

    /// Returns a text whose parts have no names, such as a string of JSON, without the secrets of the links and forms
    /// in it.
    func text(_ text: String, depth: Int = 0) -> String {
        var shown = text
        if depth < 4, let syntax = SecretScanner.Syntax(of: text) {
            var scanner = SecretScanner(text, cleaner: self, depth: depth + 1)
            shown = scanner.cleaned(syntax)
        } else if shown.contains("://") || shown.contains(":\\/\\/") {
            shown = shown.replacing(Self.link) { (match: Regex<(Substring, Substring, Substring)>.Match) -> String in
                let isEscaped = match.output.1.hasPrefix("\\")
                let url = isEscaped ? String(match.output.0).replacing("\\/", with: "/") : String(match.output.0)
                let shown = self.target(url)
                return isEscaped ? shown.replacing("/", with: "\\/") : shown
            }
        } else if depth < 4, shown.utf8.contains(UInt8(ascii: "=")), !shown.utf8.contains(where: \.isSpace) {
            let start = shown.firstIndex(of: "?").map { shown.index(after: $0) } ?? shown.startIndex
            let place: SecretName.Place = start == shown.startIndex ? .form : .query
            shown = shown[..<start] + form(String(shown[start...]), place, depth: depth + 1)
        } else if let scheme = Self.schemes.first(where: shown.lowercased().hasPrefix) {
            let secret = shown.dropFirst(scheme.count)
            if secret.utf8.count >= 8, !secret.contains(where: \.isWhitespace) {
                shown = shown.prefix(scheme.count) + hidden(String(secret))
            }
        }
        return withoutKnown(withoutCertain(shown))
    }

    /// Replaces words whose form shows that they are secrets.
    private func withoutCertain(_ text: String) -> String {
        let words = SecretWords(text).filter { SecretWords.kind(of: $0) != nil }
        let shown = words.reduce(text) { $0.replacing($1, with: hidden(String($1))) }
        guard shown.contains("PRIVATE KEY-----") else { return shown }
        return shown.replacing(/-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(-----END [A-Z ]*PRIVATE KEY-----)?/) {
            hidden(String($0.output.0))
        }
    }

    /// Replaces known secrets.
    func withoutKnown(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let shown = replaced(in: bytes)
        return withoutEncoded(shown ?? bytes) ?? shown.map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    private static let delimiters = Set("\"'<>&=;,/?#{}()[]\\|`^".utf8)

    /// Replaces known secrets in percent-encoded words, whichever characters are encoded; nil if there are none.
    private func withoutEncoded(_ bytes: [UInt8]) -> String? {
        guard bytes.contains(UInt8(ascii: "%")) else { return nil }
        let isEnd = { (byte: UInt8) in byte <= 0x20 || Self.delimiters.contains(byte) }
        var (written, position, isChanged) = ([UInt8](), 0, false)
        while position < bytes.count {
            let end = bytes[position...].firstIndex(where: isEnd) ?? bytes.count
            let word = bytes[position..<end]
            let decoded =
                word.contains(UInt8(ascii: "%")) ? String(decoding: word, as: UTF8.self).removingPercentEncoding : nil
            let shown = decoded.flatMap { replaced(in: Array($0.utf8)) }.map { String(decoding: $0, as: UTF8.self) }
            isChanged = isChanged || shown != nil
            written += shown.map { Array(FormEncoding.encoded($0).utf8)[...] } ?? word
            if end < bytes.count { written.append(bytes[end]) }
            position = end + 1
        }
        return isChanged ? String(decoding: written, as: UTF8.self) : nil
    }

    /// Returns bytes with the known secrets replaced; nil if there are none.
    func replaced(in bytes: [UInt8]) -> [UInt8]? {
        let first = own.replaced(in: bytes, by: placeholder)
        return secrets.replaced(in: first ?? bytes, isWritten: isWritten) ?? first
    }

    // MARK: Secrets

    /// Returns the placeholder of a secret, which is replaced from now on wherever it occurs.
    func hidden(_ secret: String) -> String {
        if isWritten, Self.isTelling(secret) { secrets.learn(secret) }
        return placeholder(secret)
    }

    private func placeholder(_ secret: String) -> String { secrets.placeholder(secret, isWritten: isWritten) }

    /// Whether a secret can be searched for in other texts. Words and short numbers occur there anyway.
    private static func isTelling(_ secret: String) -> Bool {
        let bytes = secret.utf8
        guard bytes.count >= 8, !bytes.allSatisfy(\.isDigit) else { return false }
        return bytes.count >= 16 || !bytes.allSatisfy(\.isLower)
    }

    /// The secrets that a request carries.
    private static func credentials(_ fields: HTTPFields, _ target: String) -> [String] {
        var found: [String] = []
        for field in fields {
            let name = field.name.canonicalName
            switch name {
            case "authorization", "proxy-authorization":
                let parts = field.value.split(separator: " ", maxSplits: 1).map(String.init)
                found += parts.suffix(1)
                guard parts.count == 2, let data = Data(base64Encoded: parts[1]) else { continue }
                let pair = String(decoding: data, as: UTF8.self).split(separator: ":", maxSplits: 1)
                if parts[0].lowercased() == "basic", pair.count == 2 { found.append(String(pair[1])) }
            case "cookie":
                let values = field.value.split(separator: ";").compactMap {
                    $0.firstIndex(of: "=").map($0.suffix(from:))
                }
                found += values.map { String($0.dropFirst()) }.filter(isTelling)
            default:
                if SecretName.extent(of: name, in: .field) != .nothing { found.append(field.value) }
            }
        }
        let parsed = RequestTarget(target)
        let parameters = (parsed.query + parsed.form).filter { SecretName.extent(of: $0.name, in: .form) != .nothing }
        return (found + parameters.map(\.value).filter(isTelling)).filter { $0.utf8.count >= 6 }
    }

    /// Returns a body without its secrets.
    ///
    /// In a text whose parts have no names, such as a file that a user downloads, only known secrets are replaced.
    func body(_ body: [UInt8], _ form: BodyForm) -> [UInt8] {
        if case .multipart(let boundary) = form { return multipart(body, boundary) }
        guard form != .other, let text = String(validating: body, as: UTF8.self), !body.contains(0) else {
            return replaced(in: body) ?? body
        }
        return Array(self.body(text, form).utf8)
    }

    /// Returns the text of a body without its secrets.
    func body(_ text: String, _ form: BodyForm) -> String {
        var scanner = SecretScanner(text, cleaner: self)
        switch form {
        case .json: return scanner.cleaned(.json)
        case .form: return withoutKnown(self.form(text, .form))
        case .markup: return scanner.cleaned(.markup)
        case .assignments: return scanner.cleaned(SecretScanner.Syntax(of: text) ?? .assignments)
        case .multipart, .text, .other: return withoutKnown(text)
        }
    }

    /// Returns the parts of a body without their secrets. Each has a name, or a type of its own.
    private func multipart(_ body: [UInt8], _ boundary: String) -> [UInt8] {
        let delimiter = Array("--\(boundary)".utf8)
        var (written, position) = ([UInt8](), 0)
        while position < body.count {
            let end = body[position...].firstRange(of: delimiter)?.lowerBound ?? body.count
            written += part(Array(body[position..<end]))
            written += body[end..<min(body.count, end + delimiter.count)]
            position = end + delimiter.count
        }
        return written
    }

    private func part(_ part: [UInt8]) -> [UInt8] {
        guard let head = part.firstRange(of: Array("\r\n\r\n".utf8)) else { return replaced(in: part) ?? part }
        var fields = HTTPFields()
        for line in String(decoding: part[..<head.lowerBound], as: UTF8.self).split(whereSeparator: \.isNewline) {
            let sides = line.split(separator: ":", maxSplits: 1).map { String($0).trimmed }
            if sides.count == 2, let name = HTTPField.Name(sides[0]) { fields[name] = sides[1] }
        }
        // A line break belongs to the delimiter that follows.
        let isWhole = part.suffix(2) == Array("\r\n".utf8)[...]
        let content = Array(part[head.upperBound...].dropLast(isWhole ? 2 : 0))
        let shown = self.part(content, fields)
        return part[..<head.upperBound] + shown + (isWhole ? Array("\r\n".utf8) : [])
    }

    private func part(_ content: [UInt8], _ fields: HTTPFields) -> [UInt8] {
        let disposition = fields[.contentDisposition] ?? ""
        let name = disposition.firstMatch(of: /name="?([^";]*)/)?.output.1 ?? ""
        let text = String(validating: content, as: UTF8.self)
        if let text, !text.isEmpty, SecretName.extent(of: name, in: .form) != .nothing {
            return Array(hidden(text).utf8)
        }
        if fields[.contentType] != nil { return body(content, BodyForm(fields)) }
        guard let text, !disposition.contains("filename") else { return replaced(in: content) ?? content }
        return Array(self.text(text).utf8)
    }
}
