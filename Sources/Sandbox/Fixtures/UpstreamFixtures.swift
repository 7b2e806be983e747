package import Foundation
package import HTTPTypes
import JSONValues
import Synchronization

/// The files of one upstream and the mode in which they are used.
package final class UpstreamFixtures: Sendable {
    struct State {
        var mode: FixtureMode
        var folder: FixtureFolder?
        /// How often each file was used since the mode was set.
        var uses: [String: Int] = [:]
        /// The files that were written since then.
        var written: Set<String> = []
        /// The latest requests without a file, with the files nearest to them.
        var unmatched: [JSONValue] = []
        /// The latest differences that the mode `diff` has found.
        var differences: [FixtureDifference] = []
        /// The latest values that look like secrets, by file.
        var suspected: [JSONValue] = []
        /// Revision of the secrets that are replaced in the written files.
        var revision = 0
    }

    /// The upstream, by its name in the settings.
    package let name: String
    private let standard: FixtureMode
    /// Whether nothing is written, because the folder is shared with other servers.
    package let isReadOnly: Bool
    let cleaner: SecretCleaner
    /// Whether an exchange with a likely secret is refused; otherwise it is written and reported.
    let refusesSuspected: Bool
    let report: @Sendable (String) -> Void
    /// The time of the machine, not of the server's clock: real APIs change with it.
    let now: @Sendable () -> Date
    let state: Mutex<State>

    /// Creates the files of an upstream.
    ///
    /// - Parameters:
    ///   - base: Its base URL.
    ///   - mode: The first mode. If the folder is read-only, `record` is replaced by `live`.
    ///   - folder: The folder of its files; nil if the settings name none.
    ///   - secrets: Those of all upstreams of a server.
    ///   - report: Is called with messages for a person, such as a defective file or a request without a file.
    /// - Throws: ``FixtureError/noFolder(upstream:)`` if the mode needs a folder.
    package init(
        name: String,
        base: String,
        mode: FixtureMode = .live,
        folder: URL? = nil,
        isReadOnly: Bool = false,
        refusesSuspected: Bool = false,
        secrets: Secrets = Secrets(),
        now: @escaping @Sendable () -> Date = { Date() },
        report: @escaping @Sendable (String) -> Void
    ) throws(FixtureError) {
        self.name = name
        self.report = report
        self.now = now
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

    /// Replaces the credentials of a request from now on, wherever they are stored.
    package func learn(_ fields: HTTPFields, _ target: String) { cleaner.learn(fields, target) }

    /// Whether a response that is stored elsewhere contains a secret. Signatures in its links do not count, because the
    /// links would not work without them.
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

    /// Runs work on the files, after those that have changed were read again.
    func withFiles<Value: Sendable>(_ work: (inout State) -> Value) -> Value {
        let (value, defects) = state.withLock { state in
            let defects = state.folder?.refresh() ?? []
            return (work(&state), defects)
        }
        for defect in defects { report("\(name): \(defect.text)") }
        return value
    }
}

// Responses from files, and changes of responses.
extension UpstreamFixtures {
    /// Requests without a file that are kept.
    private static let mostUnmatched = 20
    /// Near misses that are shown.
    private static let mostShown = 5
    /// The field of a response that says from which file it is.
    static let mark = HTTPField.Name("Fixture")

    /// Returns the recorded response to a request; nil if there is none.
    ///
    /// If several files match, each is used once, in their order. The last one is used for all further requests.
    package func reply(to request: FixtureRequest) -> FixtureResponse? {
        let compared = ComparedRequest(request, cleaner)
        let (reply, failure) = withFiles { state -> (FixtureResponse?, FixtureDefect?) in
            let matching = state.folder?.exchanges.filter { $0.match.differences(from: compared).isEmpty } ?? []
            let demand = matching.map(\.match.demand).max()
            let best = matching.filter { $0.match.demand == demand }
            guard let folder = state.folder?.url,
                let fixture = best.first(where: { state.uses[$0.name] == nil }) ?? best.last
            else { return (nil, nil) }
            do throws(YAMLDefect) {
                var response = try fixture.response(in: folder)
                state.uses[fixture.name, default: 0] += 1
                if let mark = Self.mark { response.headerFields[mark] = fixture.name }
                return (response, nil)
            } catch {
                return (nil, FixtureDefect(file: fixture.name, defect: error))
            }
        }
        if let failure { report("\(name): \(failure.text)") }
        return reply.map { $0.conditional(on: request) }
    }

    /// Returns the response to a request that has no file: 404 with the files nearest to it.
    package func refusal(of request: FixtureRequest) -> FixtureResponse {
        let compared = ComparedRequest(request, cleaner)
        let line = "\(compared.line.method) \(compared.line.origin)\(compared.line.path)"
        let (misses, broken) = withFiles { state in
            let misses = Self.nearMisses(compared, state.folder?.exchanges ?? [])
            state.unmatched.append(["request": .string(line), "near_misses": .array(misses)])
            state.unmatched.removeFirst(max(0, state.unmatched.count - Self.mostUnmatched))
            return (misses, state.folder?.defects ?? [])
        }
        report("\(name): no recording of \(line)")
        let problem: JSONValue = [
            "type": "urn:larder:sandbox:problem:not-recorded", "title": "Not recorded", "status": 404,
            "detail": .string("There is no recording of \(line)."), "code": "not-recorded",
            "upstream": .string(name), "near_misses": .array(misses), "broken": .array(broken.map(\.json)),
        ]
        let fields: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
        return FixtureResponse(status: .notFound, headerFields: fields, content: .bytes(problem.serialized()))
    }

    /// The nearest first.
    private static func nearMisses(_ request: ComparedRequest, _ fixtures: [Fixture]) -> [JSONValue] {
        let compared = fixtures.map { (fixture: $0, differences: $0.match.differences(from: request)) }
        return compared.map { (item: $0, distance: $0.differences.reduce(0) { $0 + $1.weight }) }
            .sorted { $0.distance < $1.distance }.prefix(mostShown).map { miss in
                [
                    "file": .string(miss.item.fixture.name), "request": .string(miss.item.fixture.match.line),
                    "differences": .array(miss.item.differences.map(\.json)),
                ]
            }
    }

    /// Changes a response by the patches whose requests match, one after the other in the order of their names.
    ///
    /// - Parameter body: Returns the response with its whole body, if a patch needs it.
    package func modify(
        _ response: inout FixtureResponse,
        to request: FixtureRequest,
        collecting body: (inout FixtureResponse) async throws -> Void
    ) async rethrows {
        let line = FixtureMatch.Line("\(request.method.rawValue) \(request.target)")
        let matched = MatchedRequest(
            method: line.method,
            path: line.target.segments,
            query: line.target.query,
            headers: request.headerFields,
            body: request.body?.start ?? []
        )
        let patches = withFiles { $0.folder?.patches ?? [] }.filter { $0.match.matches(matched) }
        if patches.contains(where: \.changesBody) { try await body(&response) }
        for patch in patches {
            do {
                try patch.apply(to: &response)
                if let mark = Self.mark { response.headerFields[mark] = patch.name }
            } catch {
                report("\(name): \(patch.name) does not fit the response to \(line.method) \(line.path): \(error)")
            }
        }
    }
}

extension FixtureResponse {
    /// Returns 304 if the request has the entity tag or the date of this response (RFC 9110 section 13).
    fileprivate func conditional(on request: FixtureRequest) -> FixtureResponse {
        guard status == .ok, request.method == .get || request.method == .head else { return self }
        let isSame: Bool
        if let condition = request.headerFields[.ifNoneMatch] {
            let tag = headerFields[.eTag].map { $0.hasPrefix("W/") ? String($0.dropFirst(2)) : $0 }
            isSame = tag.map { EntityTag.matches(condition, tag: $0) } ?? false
        } else {
            let date = request.headerFields[.ifModifiedSince]
            isSame = date != nil && date == headerFields[.lastModified]
        }
        guard isSame else { return self }
        var fields = headerFields
        for name in [.contentLength, .contentType] as [HTTPField.Name] { fields[name] = nil }
        return FixtureResponse(status: .notModified, headerFields: fields, content: .bytes([]))
    }
}

extension UpstreamFixtures {
    /// Mode and numbers.
    var summary: JSONObject { withFiles { self.summary($0) } }

    private func summary(_ state: State) -> JSONObject {
        [
            "name": .string(name), "mode": .string(state.mode.rawValue),
            "folder": (state.folder?.url.path).map { .string($0) } ?? .null,
            "exchanges": .integer(state.folder?.exchanges.count ?? 0),
            "patches": .integer(state.folder?.patches.count ?? 0),
            "broken": .array((state.folder?.defects ?? []).map(\.json)),
        ]
    }

    /// A day as files have it (RFC 3339 full-date, UTC).
    static func day(_ time: Date) -> String { time.formatted(.iso8601.year().month().day()) }

    /// Returns the requests that had no file, and the files that were used and are older than `oldestDays` or have no
    /// date.
    func lapses(oldestDays: Int?) -> (unmatched: [JSONValue], old: [JSONValue]) {
        let first = oldestDays.map { Self.day(now().addingTimeInterval(-86_400 * Double($0))) } ?? ""
        return withFiles { state in
            let used = (state.folder?.exchanges ?? []).filter { state.uses[$0.name] != nil && state.mode == .replay }
            let old = used.filter { $0.day ?? "" < first }.map { fixture -> JSONValue in
                ["file": .string(fixture.name), "day": fixture.day.map { .string($0) } ?? .null]
            }
            return (state.unmatched, old)
        }
    }

    /// The same with the files, and with the results of the requests since the mode was set.
    var details: JSONObject {
        withFiles { state in
            var details = self.summary(state)
            let files = (state.folder?.exchanges ?? []).map { fixture -> JSONValue in
                [
                    "file": .string(fixture.name), "request": .string(fixture.match.line),
                    "status": .integer(fixture.status),
                    "recorded": fixture.mode.map { .string($0.rawValue) } ?? .null,
                    "uses": .integer(state.uses[fixture.name] ?? 0),
                ]
            }
            details["files"] = .array(files)
            details["unmatched"] = .array(state.unmatched)
            details["suspected"] = .array(state.suspected)
            details["differences"] = .array(state.differences.map(\.json))
            return details
        }
    }
}
