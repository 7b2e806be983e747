package import Foundation
package import HTTPTypes
import Synchronization

/// The files of one upstream, and how they are used now.
package final class UpstreamFixtures: Sendable {
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
        /// The latest values that look like secrets, by file.
        var suspected: [JSONValue] = []
        /// Of the secrets that were replaced in the files written.
        var revision = 0
    }

    /// The upstream, by its name in the settings.
    package let name: String
    private let standard: FixtureMode
    /// Whether nothing is written: the folder is shared with servers that are to see nothing of this one.
    package let isReadOnly: Bool
    let cleaner: SecretCleaner
    /// Whether an exchange is not written that has what looks like a secret.
    let refusesSuspected: Bool
    let report: @Sendable (String) -> Void
    let state: Mutex<State>

    /// Creates the files of an upstream.
    ///
    /// - Parameters:
    ///   - base: Its base URL.
    ///   - mode: The mode at first. Where nothing is written, it is `live` in place of `record`.
    ///   - folder: Where its files are; nil if the settings name none.
    ///   - isReadOnly: Whether nothing is written.
    ///   - refusesSuspected: Whether an exchange is not written that has what looks like a secret; else it is reported.
    ///   - secrets: Those of all upstreams of a server.
    ///   - report: Is called with what a person should know: a file that cannot be used, a request without one.
    /// - Throws: ``FixtureError/noFolder(upstream:)`` if the mode needs a folder.
    package init(
        name: String,
        base: String,
        mode: FixtureMode = .live,
        folder: URL? = nil,
        isReadOnly: Bool = false,
        refusesSuspected: Bool = false,
        secrets: Secrets = Secrets(),
        report: @escaping @Sendable (String) -> Void
    ) throws(FixtureError) {
        self.name = name
        self.report = report
        standard = isReadOnly && mode == .record ? .live : mode
        self.isReadOnly = isReadOnly
        self.refusesSuspected = refusesSuspected
        cleaner = SecretCleaner(base: base, secrets: secrets)
        state = Mutex(State(mode: .live, folder: folder.map(FixtureFolder.init)))
        try setMode(standard)
    }

    /// How requests are treated now.
    package var mode: FixtureMode { state.withLock { $0.mode } }

    /// Begins to treat requests in a mode; recordings of a sequence begin again.
    /// - Throws: ``FixtureError/noFolder(upstream:)``, ``FixtureError/readOnly(upstream:)``.
    package func setMode(_ mode: FixtureMode) throws(FixtureError) {
        guard mode != .record || !isReadOnly else { throw .readOnly(upstream: name) }
        let isPossible = state.withLock { state in
            guard mode == .live || state.folder != nil else { return false }
            state = State(mode: mode, folder: state.folder)
            return true
        }
        guard isPossible else { throw .noFolder(upstream: name) }
        if mode != .live { cleaner.secrets.skip(to: withFiles { $0.folder?.lastSecret ?? 0 }) }
    }

    /// Sets the mode of the settings.
    package func reset() {
        // The mode of the settings was possible before.
        try? setMode(standard)
    }

    /// Has the credentials of a request replaced wherever they are kept from now on.
    package func learn(_ fields: HTTPFields, _ target: String) { cleaner.learn(fields, target) }

    /// Whether a response that is kept elsewhere has a secret. The signatures of its links are none: without them the
    /// links would open nothing.
    package func holdsSecret(_ url: String, _ fields: HTTPFields, _ body: [UInt8]) -> Bool {
        let cleaner = cleaner.comparing([:], "").keepingLinks
        guard cleaner.target(url) == url else { return true }
        let isField = { (field: HTTPField) in
            cleaner.value(field.value, ofField: field.name.canonicalName) != field.value
        }
        guard !fields.contains(where: isField) else { return true }
        let bytes = ContentCoding.decoded(body, fields, atMost: Self.longestText) ?? body
        return cleaner.body(bytes, BodyForm(fields)) != bytes
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
