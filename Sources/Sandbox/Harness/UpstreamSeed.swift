import HTTPTypes
import JSONValues

/// The part of a document that fills the simulated upstreams. Their controls store it.
struct UpstreamSeed {
    /// The members that are of upstreams.
    static let members = ["ships", "products", "people", "disk"]

    private let stage: SimulatedUpstreams

    init(_ stage: SimulatedUpstreams) { self.stage = stage }

    /// Changes the data.
    ///
    /// - Returns: The number of items by member.
    /// - Throws: ``SeedRefusal``; the data are as before then.
    func apply(_ document: JSONObject) throws(SeedRefusal) -> [String: Int] {
        let before = stage.data
        do {
            var counts: [String: Int] = [:]
            for member in document.members where Self.members.contains(member.name) {
                counts[member.name] = try apply(member)
            }
            return counts
        } catch {
            stage.restore(before)
            throw error
        }
    }

    private func apply(_ member: JSONObject.Member) throws(SeedRefusal) -> Int {
        let pointer = "/\(member.name)"
        switch member.name {
        case "ships":
            return try records(member.value, pointer, of: .spacex, clear: .init(.put, "ships", [])) { ship, index in
                let id = ship.object?["id"]?.string ?? Self.shipID(index)
                return ControlCall(.put, "ships/\(id)", ship)
            }
        case "products":
            let clear = ControlCall(.put, "generated", ["count": 0])
            return try records(member.value, pointer, of: .catalogue, clear: clear) { product, index in
                let id = product.object?["id"]?.double.flatMap { Int(exactly: $0) } ?? index + 1
                return ControlCall(.put, "products/\(id)", product)
            }
        case "people":
            let count = try Self.items(member.value, pointer).count
            try carryOut(ControlCall(.put, "people", member.value), of: .people, pointer)
            return count
        default:
            return try disk(member.value, pointer)
        }
    }

    /// Adds files and folders to those of the disk.
    private func disk(_ value: JSONValue, _ pointer: String) throws(SeedRefusal) -> Int {
        guard let members = value.object?.members else { throw Self.refusal(pointer, "It is an object.") }
        var count = 0
        for member in members {
            guard ["files", "folders"].contains(member.name) else {
                throw Self.refusal("\(pointer)/\(member.name)", "Known are files, folders.")
            }
            for (index, item) in try Self.items(member.value, "\(pointer)/\(member.name)").enumerated() {
                let place = "\(pointer)/\(member.name)/\(index)"
                try carryOut(ControlCall(.put, member.name, item), of: .yandexDisk, place)
                count += 1
            }
        }
        return count
    }

    /// Replaces all records.
    private func records(
        _ value: JSONValue,
        _ pointer: String,
        of upstream: SandboxUpstream,
        clear: ControlCall,
        _ call: (JSONValue, Int) -> ControlCall
    ) throws(SeedRefusal) -> Int {
        let items = try Self.items(value, pointer)
        try carryOut(clear, of: upstream, pointer)
        for (index, item) in items.enumerated() {
            try carryOut(call(item, index), of: upstream, "\(pointer)/\(index)")
        }
        return items.count
    }

    private static func items(_ value: JSONValue, _ pointer: String) throws(SeedRefusal) -> [JSONValue] {
        guard let items = value.array else { throw refusal(pointer, "It is an array.") }
        return items
    }

    /// Returns the identity of a ship without one. It depends only on the ship's place in the document.
    private static func shipID(_ index: Int) -> String {
        let digits = String(index + 1, radix: 16)
        return String(repeating: "0", count: max(0, 24 - digits.count)) + digits
    }

    private static func refusal(_ pointer: String, _ detail: String) -> SeedRefusal {
        SeedRefusal([.init(pointer: pointer, code: "invalid", detail: detail)])
    }

    private func carryOut(_ call: ControlCall, of upstream: SandboxUpstream, _ pointer: String) throws(SeedRefusal) {
        guard let slot = stage.slot(named: upstream.rawValue) else {
            throw Self.refusal(pointer, "\(upstream.rawValue) is not simulated here.")
        }
        do {
            _ = try slot.upstream.control(call.request)
        } catch {
            let field = error.field.map { $0 == "body" ? "" : "/\($0)" } ?? ""
            throw Self.refusal(pointer + field, error.detail)
        }
    }
}

/// A call to the controls of an upstream.
struct ControlCall {
    let request: ControlRequest

    /// - Parameter path: Below the name of the upstream.
    init(_ method: HTTPRequest.Method, _ path: String, _ body: JSONValue) {
        request = ControlRequest(
            method: method,
            path: path.split(separator: "/").map(String.init),
            body: body.serialized()
        )
    }
}

/// Why a document that should fill a server was refused. Nothing of the document was stored.
package struct SeedRefusal: Error, Sendable {
    /// A defect of one value.
    package struct Fault: Sendable, Equatable {
        let pointer: String
        let code: String
        let detail: String

        /// - Parameters:
        ///   - pointer: where it is (RFC 6901).
        ///   - code: the defect, for programs.
        ///   - detail: the accepted values, for people.
        package init(pointer: String, code: String, detail: String) {
            (self.pointer, self.code, self.detail) = (pointer, code, detail)
        }
    }

    static let mostFaults = 20

    /// The defects, at least one.
    package let all: [Fault]

    package init(_ faults: [Fault]) { all = faults }
}

/// The parts of a document that were stored.
package struct SeedReport: Sendable {
    /// An account with the token of its session.
    package struct Account: Sendable {
        let app: String
        let name: String?
        let token: String

        package init(app: String, name: String?, token: String) {
            (self.app, self.name, self.token) = (app, name, token)
        }
    }

    let accounts: [Account]
    /// Number of items by member.
    var counts: [String: Int]

    package init(accounts: [Account], counts: [String: Int]) {
        (self.accounts, self.counts) = (accounts, counts)
    }
}

extension SeedRefusal {
    var response: UpstreamResponse {
        let shown = all.prefix(Self.mostFaults)
        let errors = shown.map { fault -> JSONValue in
            ["pointer": .string(fault.pointer), "code": .string(fault.code), "detail": .string(fault.detail)]
        }
        let detail = shown.prefix(3).map { "\($0.pointer): \($0.detail)" }.joined(separator: " ")
        return .json(
            .unprocessableContent,
            [
                "type": "urn:larder:sandbox:problem:not-seeded", "title": "Nothing was stored", "status": 422,
                "detail": .string(detail), "code": "not-seeded", "errors": .array(Array(errors)),
            ],
            type: "application/problem+json"
        )
    }
}

/// Stores a document in the server that is tested.
package typealias SeedStore = @Sendable () async throws -> SeedReport

// Filling the server and its upstreams.
extension HarnessAPI {
    /// Longest document that fills a server, in bytes.
    private static let maximumSeed = 64 << 20

    /// Returns the longest body of a call.
    static func maximumBody(of segments: [String]) -> Int {
        segments == [prefix, "seed"] ? maximumSeed : SandboxResponder.maximumBody
    }

    func seed(_ request: ControlRequest) async throws -> UpstreamResponse {
        try request.require(.put)
        _ = try request.parameters()
        guard let document = try request.json().object else {
            throw ControlProblem.invalid(field: "body", value: "", accepted: ["a JSON object"])
        }
        do {
            try Self.check(document, knowing: server.seedMembers + UpstreamSeed.members)
            let own = document.members.filter { !UpstreamSeed.members.contains($0.name) }
            let report = try await server.seed(JSONValue.object(JSONObject(members: own)).serialized()) {
                [stage] store in
                let before = stage.data
                let counts = try UpstreamSeed(stage).apply(document)
                do {
                    var report = try await store()
                    report.counts.merge(counts) { $0 + $1 }
                    return report
                } catch {
                    stage.restore(before)
                    throw error
                }
            }
            return Self.response(report)
        } catch let refusal as SeedRefusal {
            return refusal.response
        }
    }

    private static func check(_ document: JSONObject, knowing members: [String]) throws(SeedRefusal) {
        let others = document.members.filter { !members.contains($0.name) }
        guard others.isEmpty else {
            let detail = "Known are \(members.joined(separator: ", "))."
            throw SeedRefusal(others.map { .init(pointer: "/\($0.name)", code: "unknown", detail: detail) })
        }
    }

    private static func response(_ report: SeedReport) -> UpstreamResponse {
        let counts = report.counts.sorted { $0.key < $1.key }
        let accounts = report.accounts.map { account -> JSONValue in
            [
                "app": .string(account.app), "name": account.name.map { .string($0) } ?? .null,
                "token": .string(account.token),
            ]
        }
        let stored = JSONObject(counts.map { ($0.key, .integer($0.value)) })
        return .json(.ok, ["accounts": .array(accounts), "stored": .object(stored)])
    }
}
