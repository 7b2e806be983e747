import Foundation
import Logging
import Sandbox
import Settings
import Upstream

/// The settings of an upstream that are about its recordings.
struct FixtureConfiguration: Sendable {
    let mode: FixtureMode
    /// Nil if it is not set.
    let folder: URL?
    /// Whether an exchange with what looks like a secret is not recorded.
    let refusesSuspected: Bool

    /// Reads the settings of an upstream.
    ///
    /// - Throws: `SettingError` if the mode needs a folder and none is set.
    init(_ name: String, _ settings: SettingValues) throws(SettingError) {
        mode = try settings.choice("upstreams.\(name).mode")
        let path = try settings.text("upstreams.\(name).fixtures")
        folder = path.isEmpty ? nil : URL(filePath: path, directoryHint: .isDirectory)
        let suspected = try settings.text("upstreams.\(name).suspected_secrets")
        refusesSuspected = suspected == "refuse" || (suspected == "auto" && Self.isCI)
        guard mode == .live || folder != nil else {
            throw .unacceptable(
                key: "upstreams.\(name).fixtures",
                value: path,
                source: "settings",
                accepted: "the path of a folder, since upstreams.\(name).mode is \(mode.rawValue)"
            )
        }
    }

    /// Whether the process runs for a service that runs tests: nobody looks at its log.
    private static var isCI: Bool { !["", "false", "0"].contains(ProcessInfo.processInfo.environment["CI"] ?? "") }
}

extension FixtureLibrary {
    /// Creates the recordings of a server's upstreams.
    ///
    /// - Parameter isControlled: Whether modes can be set while it runs. If not, upstreams that are live have none.
    init(_ configuration: LarderConfiguration, isControlled: Bool, logger: Logger) throws {
        var upstreams: [UpstreamFixtures] = []
        let secrets = Secrets()
        for upstream in configuration.upstreams.byName.values {
            let fixtures = try FixtureConfiguration(upstream.name, configuration.settings)
            guard isControlled || fixtures.mode != .live else { continue }
            upstreams.append(
                try UpstreamFixtures(
                    name: upstream.name,
                    base: upstream.baseURL.absoluteString,
                    mode: fixtures.mode,
                    folder: fixtures.folder,
                    isReadOnly: configuration.isSpace,
                    refusesSuspected: fixtures.refusesSuspected,
                    secrets: secrets
                ) { logger.warning("fixtures", metadata: ["what": "\($0)"]) }
            )
        }
        self.init(upstreams)
    }
}
