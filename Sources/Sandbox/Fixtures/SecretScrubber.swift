import Foundation

/// Replaces secrets by placeholders before they are written.
struct SecretScrubber: Sendable {
    /// What placeholders begin with; a number follows.
    static let prefix = FixtureSecrets.prefix
    /// In place of a secret that has no number: it is compared with any.
    static let any = FixtureSecrets.any

    /// The base URL of the upstream: identities in its paths are no signatures.
    private let base: String
    let secrets: FixtureSecrets

    init(base: String, secrets: FixtureSecrets = FixtureSecrets()) { (self.base, self.secrets) = (base, secrets) }

    private func placeholder(_ secret: String, _ kind: FixtureSecrets.Kind, isWritten: Bool) -> String {
        secrets.placeholder(secret, kind, isWritten: isWritten)
    }

    /// Returns a value of a header field without its secrets.
    func value(_ value: String, ofField name: String, isWritten: Bool) -> String {
        func hidden(_ secret: some StringProtocol) -> String {
            placeholder(String(secret), .credential, isWritten: isWritten)
        }
        switch name {
        case "authorization", "proxy-authorization":
            guard let space = value.firstIndex(of: " ") else { return hidden(value) }
            return value[...space] + hidden(value[value.index(after: space)...])
        case "cookie", "set-cookie":
            let parts = value.split(separator: ";", omittingEmptySubsequences: false)
            let shown = parts.enumerated().map { index, part in
                guard name == "cookie" || index == 0, let equals = part.firstIndex(of: "=") else { return String(part) }
                return part[...equals] + hidden(part[part.index(after: equals)...])
            }
            return shown.joined(separator: ";")
        case _ where SecretNames.isSecret(field: name): return hidden(value)
        default: return links(in: value, isWritten: isWritten)
        }
    }

    /// Returns a request target or an absolute URL without its secrets.
    func target(_ target: String, isWritten: Bool) -> String {
        var parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let isElsewhere = !target.hasPrefix("/") && (base.isEmpty || !target.hasPrefix(base))
        parts[0] = isElsewhere ? path(parts[0], isWritten: isWritten) : knownPath(parts[0])
        if parts.count > 1 { parts[1] = query(parts[1], isWritten: isWritten) }
        return replacingCredentials(in: parts.joined(separator: "?"))
    }

    /// Replaces the signatures in the path of an absolute URL, and who it says that the client is.
    private func path(_ url: String, isWritten: Bool) -> String {
        var segments = url.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard segments.count > 3 else { return url }
        if let at = segments[2].lastIndex(of: "@") {
            segments[2] = String(segments[2][segments[2].index(after: at)...])
        }
        for index in segments.indices.dropFirst(3) where SecretNames.isSignature(segment: segments[index]) {
            segments[index] = placeholder(segments[index], .signature, isWritten: isWritten)
        }
        return segments.joined(separator: "/")
    }

    /// Replaces what was a signature in the path of a link before: the host of a link may be an upstream itself.
    private func knownPath(_ path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            SecretNames.isSignature(segment: String(segment)) ? secrets.known(String(segment)) : String(segment)
        }.joined(separator: "/")
    }

    private func query(_ text: String, isWritten: Bool) -> String {
        text.split(separator: "&", omittingEmptySubsequences: false).map { item in
            guard let equals = item.firstIndex(of: "="), SecretNames.isSecret(parameter: item[..<equals]) else {
                return String(item)
            }
            let secret = String(item[item.index(after: equals)...])
            return item[...equals] + placeholder(secret, .signature, isWritten: isWritten)
        }.joined(separator: "&")
    }

    /// Returns the text of a body without its secrets.
    ///
    /// - Parameter isData: Whether its members and fields have names, as in JSON and forms. In other texts only what is
    ///   known to be a credential is replaced: a file that a user downloads is not to be changed.
    func text(_ text: String, _ form: Redaction.Form, isData: Bool, isWritten: Bool) -> String {
        guard isData else { return replacingCredentials(in: text) }
        let named = Redaction.text(text, form, names: form == .json ? SecretNames.members : SecretNames.fields) {
            self.placeholder($0, .credential, isWritten: isWritten)
        }
        return replacingCredentials(in: links(in: named, isWritten: isWritten))
    }

    private static var link: Regex<(Substring, Substring, Substring)> {
        /https?:(\/\/|\\\/\\\/)([^\s"'<>\\]|\\\/)+/
    }

    private func links(in text: String, isWritten: Bool) -> String {
        guard text.contains("http") else { return text }
        return text.replacing(Self.link) { (match: Regex<(Substring, Substring, Substring)>.Match) -> String in
            let isEscaped = match.output.1.hasPrefix("\\")
            let url = isEscaped ? String(match.output.0).replacing("\\/", with: "/") : String(match.output.0)
            let shown = self.target(url, isWritten: isWritten)
            return isEscaped ? shown.replacing("/", with: "\\/") : shown
        }
    }

    private func replacingCredentials(in text: String) -> String {
        secrets.credentials.reduce(text) { $0.replacingOccurrences(of: $1.secret, with: $1.placeholder) }
    }
}
