import Foundation
import HTTPTypes
import Logging
import Sandbox
import Screens
import Storage
import Upstream

/// The settings of an upstream, `upstreams.{name}.*`.
struct UpstreamSettings {
    /// The defaults of all upstreams.
    private static let standard = UpstreamConfiguration(name: "", title: "", baseURL: URL(filePath: "/"))

    private let upstream: UpstreamDescription
    private let remark: String

    /// The settings of an app's upstream, with its own defaults.
    init(of upstream: UpstreamDescription) { (self.upstream, remark) = (upstream, " (\(upstream.title))") }

    /// The settings of an upstream that no app uses.
    init(named name: String) { (upstream, remark) = (UpstreamDescription(name, title: name, url: nil), "") }

    private func setting<Value: Sendable>(
        _ ending: String,
        _ form: SettingForm<Value>,
        default standard: Value,
        _ summary: String
    ) -> Setting<Value> {
        Setting("upstreams.\(upstream.name).\(ending)", form, default: standard, summary + remark)
    }

    var url: Setting<URL?> {
        setting("url", .url, default: upstream.url.flatMap { URL(string: $0) }, "base URL of its API")
    }
    var connectTimeout: Setting<Duration> {
        setting(
            "connect_timeout_ms",
            .milliseconds(1...600_000),
            default: Self.standard.connectTimeout,
            "longest wait for a connection"
        )
    }
    var totalTimeout: Setting<Duration> {
        setting(
            "total_timeout_ms",
            .milliseconds(1...600_000),
            default: Self.standard.totalTimeout,
            "longest wait for a complete response, retries and redirects included"
        )
    }
    var patience: Setting<Duration> {
        setting(
            "patience_ms",
            .milliseconds(0...600_000),
            default: Self.standard.patience,
            "how long a client with a stored copy waits for the upstream"
        )
    }
    var probeInterval: Setting<Duration> {
        setting(
            "probe_interval_ms",
            .milliseconds(1...3_600_000),
            default: Self.standard.probeInterval,
            "first pause between probes while it is unreachable"
        )
    }
    var allowedHosts: Setting<[String]> {
        setting(
            "allowed_hosts",
            .list,
            default: upstream.allowedHosts,
            "other hosts that its links and redirects may lead to"
        )
    }
    var shared: Setting<Bool> {
        setting(
            "shared",
            .flag,
            default: upstream.isShared,
            "whether all clients share its mount; else credentials are passed on, responses stored by credential"
        )
    }
    var methods: Setting<[HTTPRequest.Method]> {
        setting("methods", .methods, default: Self.standard.mount.methods, "methods that its mount passes on")
    }
    var requestFields: Setting<[RequestField]> {
        setting(
            "request_fields",
            .requestFields,
            default: Self.standard.mount.requestFields,
            "request fields that its mount passes on beside those of HTTP"
        )
    }
    var lastGood: Setting<Bool> {
        setting(
            "last_good",
            .flag,
            default: Self.standard.mount.lastGood,
            "whether its mount serves the last good response if it fails"
        )
    }
    var heuristics: Setting<Bool> {
        setting(
            "heuristics",
            .flag,
            default: Self.standard.mount.heuristics,
            "whether its mount derives lifetimes from Last-Modified (RFC 9111 section 4.2.2)"
        )
    }
    var mode: Setting<FixtureMode> {
        setting(
            "mode",
            .choice,
            default: .live,
            "whether its requests go out, are recorded, or are responded to from files (docs/fixtures.md)"
        )
    }
    var fixtures: Setting<URL?> {
        setting("fixtures", .folder, default: nil, "folder of its recorded exchanges and patches")
    }
    var suspectedSecrets: Setting<SuspectedSecrets> {
        setting(
            "suspected_secrets",
            .choice,
            default: .auto,
            "whether an exchange with what looks like a secret is recorded and reported, or refused; auto refuses "
                + "where the environment has CI"
        )
    }

    var all: [any SettingDeclaration] {
        [
            url, connectTimeout, totalTimeout, patience, probeInterval, allowedHosts, shared, methods, requestFields,
            lastGood, heuristics, mode, fixtures, suspectedSecrets,
        ]
    }

    /// The last parts of the keys.
    static var endings: [String] {
        UpstreamSettings(named: "").all.map { String($0.key.dropFirst("upstreams..".count)) }
    }

    // MARK: Upstreams that no app uses

    /// Returns the setting of a key such as `upstreams.mine.url`. The name has lower-case letters, digits and
    /// underscores.
    static func setting(key: String) -> (any SettingDeclaration)? {
        guard let name = upstreamName(inKey: key) else { return nil }
        return UpstreamSettings(named: name).all.first { $0.key == key }
    }

    /// Returns the setting of a flag such as `--upstreams-mine-url`.
    static func setting(flag: String) -> (any SettingDeclaration)? {
        setting(
            written: flag,
            prefix: "--upstreams-",
            spelling: { $0.flag },
            name: { String($0).replacing("-", with: "_") }
        )
    }

    /// Returns the setting of an environment variable such as `LARDER_UPSTREAMS_MINE_URL`.
    static func setting(environmentName: String) -> (any SettingDeclaration)? {
        setting(
            written: environmentName,
            prefix: "LARDER_UPSTREAMS_",
            spelling: { $0.environmentName },
            name: { $0.lowercased() }
        )
    }

    /// Flags and variables write dots and underscores alike, so the known endings tell where the name of the upstream
    /// ends.
    private static func setting(
        written: String,
        prefix: String,
        spelling: (any SettingDeclaration) -> String,
        name: (Substring) -> String
    ) -> (any SettingDeclaration)? {
        guard written.hasPrefix(prefix) else { return nil }
        let rest = written.dropFirst(prefix.count)
        for (setting, ending) in zip(UpstreamSettings(named: "").all, endings) {
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

    /// Returns the name of the upstream in a key; nil if it is no key of an upstream's setting.
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
    private(set) var byName: [String: UpstreamConfiguration] = [:]
    /// Upstreams that no app uses, each with an app's upstream of nearly the same name.
    private var lookalikes: [String: String] = [:]
    /// Upstreams that the sandbox simulates after its address is known.
    private var simulated: [String: UpstreamDescription] = [:]
    private let settings: SettingValues

    /// Reads the settings of all upstreams.
    /// - Parameters:
    ///   - described: The upstreams of apps.
    ///   - further: The names of upstreams that no app uses.
    ///   - sandbox: Whether an upstream without a configured address waits for ``simulate(_:at:)``.
    /// - Throws: `SettingError` if an upstream that no app uses has no address.
    init(
        _ settings: SettingValues,
        described: [UpstreamDescription],
        further: [String],
        sandbox: Bool
    ) throws(SettingError) {
        self.settings = settings
        for upstream in described {
            let url = UpstreamSettings(of: upstream).url
            if sandbox, !settings.isSet(url) {
                simulated[upstream.name] = upstream
            } else if let url = settings[url] {
                byName[upstream.name] = UpstreamConfiguration(upstream, at: url, settings)
            }
        }
        for name in further {
            lookalikes[name] = NameSuggestions(for: name, among: described.map(\.name)).names.first
            let setting = UpstreamSettings(named: name).url
            guard let url = settings[setting] else {
                throw .unacceptable(
                    key: setting.key,
                    value: "",
                    source: "settings of upstream \(name)",
                    accepted: setting.accepted
                )
            }
            byName[name] = UpstreamConfiguration(UpstreamDescription(name, title: name, url: nil), at: url, settings)
        }
    }

    /// Logs the upstreams that no app uses and whose names are nearly those of an app's upstream.
    func warnOfLookalikes(_ logger: Logger) {
        for (name, other) in lookalikes {
            logger.warning("upstreams.\(name) is mounted by itself; no app uses it. Is \(other) meant?")
        }
    }

    /// Gives a simulated upstream its address, and lets its mount forward the sandbox's own request field. An upstream
    /// with a configured address is not simulated.
    mutating func simulate(_ name: String, at url: URL) {
        guard let upstream = simulated[name] else { return }
        var configuration = UpstreamConfiguration(upstream, at: url, settings)
        configuration.isSimulated = true
        configuration.mount.requestFields.append(RequestField(.sandboxFault, isKey: false))
        byName[name] = configuration
    }
}

extension UpstreamConfiguration {
    init(_ upstream: UpstreamDescription, at url: URL, _ settings: SettingValues) {
        let own = UpstreamSettings(of: upstream)
        let storesBodies = upstream.storesBodies(isShared: settings[own.shared])
        self.init(name: upstream.name, title: upstream.title, baseURL: url)
        connectTimeout = settings[own.connectTimeout]
        totalTimeout = settings[own.totalTimeout]
        patience = settings[own.patience]
        probeInterval = settings[own.probeInterval]
        allowedHosts = settings[own.allowedHosts]
        hasSessions = upstream.hasSessions
        limitsByCredential = upstream.limitsByCredential
        probePath = upstream.probePath
        mount.shared = settings[own.shared]
        mount.methods = settings[own.methods]
        mount.requestFields = settings[own.requestFields]
        mount.lastGood = settings[own.lastGood]
        mount.heuristics = settings[own.heuristics]
        // A body that needs a large part of the budget would displace all others.
        mount.maximumStoredBytes = storesBodies ? settings[ServerSettings.cacheBudget].bytes / 4 : 0
        mount.leadsBack = upstream.leadsBack && storesBodies
        if let trusted = upstream.trustedHosts {
            followsPublicLinks = true
            trustedHosts = settings[trusted]
        }
    }
}
