public import Foundation
import Synchronization

/// The files of one upstream, and how they are used now.
public final class UpstreamFixtures: Sendable {
    struct State {
        var mode: FixtureMode
        var folder: FixtureFolder?
        /// How often each file was used since the mode was set.
        var uses: [String: Int] = [:]
        /// The files that were written since then.
        var written: Set<String> = []
        /// The latest requests without a file, with what the files nearest to them have.
        var unmatched: [JSONValue] = []
        /// The latest differences that the mode `diff` has found.
        var differences: [FixtureDifference] = []
    }

    /// The upstream, by its name in the settings.
    public let name: String
    private let standard: FixtureMode
    /// Whether nothing is written: the folder is shared with servers that are to see nothing of this one.
    public let isReadOnly: Bool
    let scrubber: SecretScrubber
    let report: @Sendable (String) -> Void
    let state: Mutex<State>

    /// Creates the files of an upstream.
    ///
    /// - Parameters:
    ///   - base: Its base URL.
    ///   - mode: The mode at first. Where nothing is written, it is `live` in place of `record`.
    ///   - folder: Where its files are; nil if the settings name none.
    ///   - isReadOnly: Whether nothing is written.
    ///   - secrets: Those of all upstreams of a server.
    ///   - report: Is called with what a person should know: a file that cannot be used, a request without one.
    /// - Throws: ``FixtureError/noFolder(upstream:)`` if the mode needs a folder.
    public init(
        name: String,
        base: String,
        mode: FixtureMode = .live,
        folder: URL? = nil,
        isReadOnly: Bool = false,
        secrets: FixtureSecrets = FixtureSecrets(),
        report: @escaping @Sendable (String) -> Void
    ) throws(FixtureError) {
        self.name = name
        self.report = report
        standard = isReadOnly && mode == .record ? .live : mode
        self.isReadOnly = isReadOnly
        scrubber = SecretScrubber(base: base, secrets: secrets)
        state = Mutex(State(mode: .live, folder: folder.map(FixtureFolder.init)))
        try setMode(standard)
    }

    /// How requests are treated now.
    public var mode: FixtureMode { state.withLock { $0.mode } }

    /// Begins to treat requests in a mode; recordings of a sequence begin again.
    /// - Throws: ``FixtureError/noFolder(upstream:)``, ``FixtureError/readOnly(upstream:)``.
    public func setMode(_ mode: FixtureMode) throws(FixtureError) {
        guard mode != .record || !isReadOnly else { throw .readOnly(upstream: name) }
        let isPossible = state.withLock { state in
            guard mode == .live || state.folder != nil else { return false }
            state = State(mode: mode, folder: state.folder)
            return true
        }
        guard isPossible else { throw .noFolder(upstream: name) }
        if mode != .live { scrubber.secrets.skip(to: withFiles { $0.folder?.lastSecret ?? 0 }) }
    }

    /// Sets the mode of the settings.
    public func reset() {
        // The mode of the settings was possible before.
        try? setMode(standard)
    }

    /// Works with the files as they are now.
    func withFiles<Value: Sendable>(_ work: (inout State) -> Value) -> Value {
        let (value, defects) = state.withLock { state in
            let defects = state.folder?.refresh() ?? []
            return (work(&state), defects)
        }
        for defect in defects { report("\(name): \(defect.text)") }
        return value
    }
}
