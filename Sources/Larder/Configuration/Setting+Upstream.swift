extension Setting {
    /// The settings that every upstream has, as the ends of their keys, with what they accept, what holds by default,
    /// and what they are for.
    private static let ofEveryUpstream: [(end: String, kind: Kind, standard: String, summary: String)] = [
        ("url", .url, "", "base URL of its API"),
        ("connect_timeout_ms", .integer(1...600_000), "3000", "longest wait for a connection"),
        (
            "total_timeout_ms", .integer(1...600_000), "8000",
            "longest wait for a complete response, retries and redirects included"
        ),
        ("patience_ms", .integer(0...600_000), "2000", "how long a client with a stored copy waits for the upstream"),
        ("probe_interval_ms", .integer(1...3_600_000), "5000", "first pause between probes while it is unreachable"),
        ("allowed_hosts", .list, "", "other hosts that its links and redirects may lead to"),
        (
            "shared", .choice(["true", "false"]), "true",
            "whether all clients share its mount; else credentials are passed on, responses stored by credential"
        ),
        ("methods", .list, "GET,HEAD,OPTIONS", "methods that its mount passes on"),
        (
            "last_good", .choice(["true", "false"]), "true",
            "whether its mount serves the last good response if it fails"
        ),
        (
            "heuristics", .choice(["true", "false"]), "false",
            "whether its mount derives lifetimes from Last-Modified (RFC 9111 section 4.2.2)"
        ),
    ]

    /// What stands behind the name in the key of an upstream's setting.
    static var endsOfUpstreams: [String] { ofEveryUpstream.map(\.end) }

    /// The settings of one upstream. `standards` are its own defaults, by end of key.
    static func ofUpstream(_ name: String, standards: [String: String] = [:], remark: String = "") -> [Setting] {
        ofEveryUpstream.map {
            Setting(
                "upstreams.\(name).\($0.end)",
                $0.kind,
                default: standards[$0.end] ?? $0.standard,
                $0.summary + remark
            )
        }
    }

    /// The setting of an upstream that is not in the catalogue: any name of lower-case letters, digits and underscores.
    static func ofUpstream(key: String) -> Setting? {
        let parts = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts[0] == "upstreams", isUpstreamName(parts[1]) else { return nil }
        return ofUpstream(parts[1]).first { $0.key == key }
    }

    /// The same for a flag. Flags and variables write dots and underscores alike, so the known ends tell where the name
    /// ends.
    static func ofUpstream(flag: String) -> Setting? {
        ofUpstream(written: flag, prefix: "--upstreams-", form: \.flag) { String($0).replacing("-", with: "_") }
    }

    /// The same for an environment variable.
    static func ofUpstream(environmentName: String) -> Setting? {
        ofUpstream(written: environmentName, prefix: "LARDER_UPSTREAMS_", form: \.environmentName) { $0.lowercased() }
    }

    private static func ofUpstream(
        written: String,
        prefix: String,
        form: (Setting) -> String,
        name: (Substring) -> String
    ) -> Setting? {
        guard written.hasPrefix(prefix) else { return nil }
        for setting in ofUpstream("") {
            // With an empty name the form is the prefix and the end with one separator between them, which the name
            // precedes.
            let end = form(setting).dropFirst(prefix.count)
            let written = written.dropFirst(prefix.count)
            guard written.hasSuffix(end), written.count > end.count else { continue }
            let name = name(written.dropLast(end.count))
            if isUpstreamName(name) {
                return ofUpstream(key: setting.key.replacing("upstreams..", with: "upstreams.\(name)."))
            }
        }
        return nil
    }

    /// The name in the key of an upstream's setting.
    var upstreamName: String? {
        let parts = key.split(separator: ".")
        return parts.count == 3 && parts[0] == "upstreams" ? String(parts[1]) : nil
    }

    private static func isUpstreamName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
    }
}
