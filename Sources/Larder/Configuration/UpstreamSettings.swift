import AppInterface
import Foundation
import HTTPTypes
import Sandbox
import Screens
import Settings
import Upstream

/// The settings that every upstream has, `upstreams.{name}.*`.
enum UpstreamSettings {
    /// The last part of the key, the accepted values, the default, and a description.
    private static let all: [(ending: String, kind: Setting.Kind, standard: String, summary: String)] = [
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
        ("methods", .methods, "GET,HEAD,OPTIONS", "methods that its mount passes on"),
        ("request_fields", .requestFields, "", "request fields that its mount passes on beside those of HTTP"),
        (
            "last_good", .choice(["true", "false"]), "true",
            "whether its mount serves the last good response if it fails"
        ),
        (
            "heuristics", .choice(["true", "false"]), "false",
            "whether its mount derives lifetimes from Last-Modified (RFC 9111 section 4.2.2)"
        ),
        (
            "mode", .choice(FixtureMode.allCases.map(\.rawValue)), "live",
            "whether its requests go out, are recorded, or are responded to from files (docs/fixtures.md)"
        ),
        ("fixtures", .text, "", "folder of its recorded exchanges and patches"),
        (
            "suspected_secrets", .choice(["auto", "report", "refuse"]), "auto",
            "whether an exchange with what looks like a secret is recorded and reported, or refused; auto refuses where "
                + "the environment has CI"
        ),
    ]

    /// The last parts of the keys.
    static var endings: [String] { all.map(\.ending) }

    /// The settings of an app's upstream, with its own defaults.
    static func settings(of upstream: UpstreamDescription) -> [Setting] {
        let standards = [
            "url": upstream.url ?? "",
            "allowed_hosts": upstream.allowedHosts.joined(separator: ","),
            "shared": upstream.isShared ? "true" : "false",
        ]
        return settings(ofName: upstream.name, standards: standards, remark: " (\(upstream.title))")
    }

    /// The settings of an upstream that no app uses.
    static func settings(ofName name: String) -> [Setting] { settings(ofName: name, standards: [:], remark: "") }

    private static func settings(ofName name: String, standards: [String: String], remark: String) -> [Setting] {
        all.map {
            Setting(
                "upstreams.\(name).\($0.ending)",
                $0.kind,
                default: standards[$0.ending] ?? $0.standard,
                $0.summary + remark
            )
        }
    }

    // MARK: Upstreams that no app uses

    /// Returns the setting of a key such as `upstreams.mine.url`. The name has lower-case letters, digits and
    /// underscores.
    static func setting(key: String) -> Setting? {
        guard let name = upstreamName(inKey: key) else { return nil }
        return settings(ofName: name).first { $0.key == key }
    }

    /// Returns the setting of a flag such as `--upstreams-mine-url`.
    static func setting(flag: String) -> Setting? {
        setting(written: flag, prefix: "--upstreams-", spelling: \.flag) { String($0).replacing("-", with: "_") }
    }

    /// Returns the setting of an environment variable such as `LARDER_UPSTREAMS_MINE_URL`.
    static func setting(environmentName: String) -> Setting? {
        setting(written: environmentName, prefix: "LARDER_UPSTREAMS_", spelling: \.environmentName) { $0.lowercased() }
    }

    /// Flags and variables write dots and underscores alike, so the known endings tell where the name ends.
    private static func setting(
        written: String,
        prefix: String,
        spelling: (Setting) -> String,
        name: (Substring) -> String
    ) -> Setting? {
        guard written.hasPrefix(prefix) else { return nil }
        let rest = written.dropFirst(prefix.count)
        for (setting, ending) in zip(settings(ofName: ""), endings) {
            // With an empty name the spelling is the prefix, a separator and the ending; the name precedes the
            // separator.
            let tail = spelling(setting).dropFirst(prefix.count)
            guard rest.hasSuffix(tail), rest.count > tail.count else { continue }
            if let setting = self.setting(key: "upstreams.\(name(rest.dropLast(tail.count))).\(ending)") {
                return setting
            }
        }
        return nil
    }

    /// Returns the name in the key of an upstream's setting; nil if it is no such key.
    static func upstreamName(inKey key: String) -> String? {
        let parts = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts[0] == "upstreams", isName(parts[1]) else { return nil }
        return parts[1]
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
    }
}

/// The upstreams that have an address.
struct ConfiguredUpstreams: Sendable {
    /// Their configurations by name.
    private(set) var byName: [String: UpstreamConfiguration] = [:]
    /// Upstreams that no app uses, with the name of one that an app uses and that is nearly the same.
    private(set) var lookalikes: [String: String] = [:]
    /// Upstreams that the sandbox simulates once its address is known.
    private var simulated: [String: UpstreamDescription] = [:]
    private let settings: SettingValues

    /// Reads the settings of all upstreams.
    /// - Parameters:
    ///   - described: the upstreams of apps
    ///   - further: names of upstreams that no app uses
    ///   - sandbox: whether an upstream whose address is not set waits for ``simulate(_:at:)``
    /// - Throws: `SettingError` if an upstream that no app uses has no address.
    init(
        _ settings: SettingValues,
        described: [UpstreamDescription],
        further: [String],
        sandbox: Bool
    ) throws(SettingError) {
        self.settings = settings
        for upstream in described {
            let key = "upstreams.\(upstream.name).url"
            if sandbox, !settings.isSet(key) {
                simulated[upstream.name] = upstream
            } else if let url = try settings.url(key) {
                byName[upstream.name] = try UpstreamConfiguration(upstream, at: url, settings)
            }
        }
        for name in further {
            lookalikes[name] = NameSuggestions(for: name, among: described.map(\.name)).names.first
            let key = "upstreams.\(name).url"
            guard let url = try settings.url(key) else {
                let accepted = Setting(key, .url, default: "", "").accepted
                throw .unacceptable(key: key, value: "", source: "settings of upstream \(name)", accepted: accepted)
            }
            byName[name] = try UpstreamConfiguration(
                UpstreamDescription(name, title: name, url: nil),
                at: url,
                settings
            )
        }
    }

    /// Gives a simulated upstream its address, and has its mount pass on the sandbox's own request field. One whose
    /// address is set is not simulated.
    /// - Throws: `SettingError` if the upstream's settings were not declared.
    mutating func simulate(_ name: String, at url: URL) throws(SettingError) {
        guard let upstream = simulated[name] else { return }
        var configuration = try UpstreamConfiguration(upstream, at: url, settings)
        configuration.isSimulated = true
        configuration.mount.requestFields.append(RequestField(.sandboxFault, isKey: false))
        byName[name] = configuration
    }
}

extension UpstreamConfiguration {
    /// Reads the settings of an upstream.
    /// - Throws: `SettingError` if the upstream's settings were not declared.
    init(_ upstream: UpstreamDescription, at url: URL, _ settings: SettingValues) throws(SettingError) {
        let key = "upstreams.\(upstream.name)"
        self.init(
            name: upstream.name,
            title: upstream.title,
            baseURL: url,
            connectTimeout: try settings.milliseconds("\(key).connect_timeout_ms"),
            totalTimeout: try settings.milliseconds("\(key).total_timeout_ms"),
            patience: try settings.milliseconds("\(key).patience_ms"),
            probeInterval: try settings.milliseconds("\(key).probe_interval_ms"),
            allowedHosts: try settings.list("\(key).allowed_hosts"),
            hasSessions: upstream.hasSessions,
            limitsByCredential: upstream.limitsByCredential,
            probePath: upstream.probePath,
            mount: try MountOptions(upstream, settings)
        )
        if let trusted = upstream.trustedHostsSetting {
            followsPublicLinks = true
            trustedHosts = try settings.list(trusted)
        }
    }
}

extension MountOptions {
    fileprivate init(_ upstream: UpstreamDescription, _ settings: SettingValues) throws(SettingError) {
        let key = "upstreams.\(upstream.name)"
        self.init(
            shared: try settings.flag("\(key).shared"),
            methods: try settings.list("\(key).methods").compactMap { HTTPRequest.Method($0.uppercased()) },
            requestFields: try settings.list("\(key).request_fields").compactMap { RequestField(setting: $0) },
            lastGood: try settings.flag("\(key).last_good"),
            heuristics: try settings.flag("\(key).heuristics"),
            // A body that is a large part of the budget would displace all others.
            maximumStoredBytes: upstream.storesBodies ? try settings.mebibytes("cache.budget_mb") / 4 : 0
        )
    }
}
