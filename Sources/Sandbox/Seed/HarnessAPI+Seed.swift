import HTTPTypes

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
        let stored = JSONObject(members: counts.map { .init(name: $0.key, value: .integer($0.value)) })
        return .json(.ok, ["accounts": .array(accounts), "stored": .object(stored)])
    }
}

extension ControlIndex {
    static let seed = [
        Line(
            method: "PUT",
            path: "/_harness/seed",
            purpose: "fills Larder and the simulated upstreams, all or nothing: accounts with the tokens of their "
                + "sessions, notes, lines of shopping lists, documents, disk (files, folders), and ships, products and "
                + "people in place of those of the start; 422 names each value that is refused by its JSON pointer",
            example: #"{"accounts":[{"app":"notes","name":"anna","token":"t-anna"}],"#
                + #""notes":[{"account":"anna","body":"Milk"}],"list":[{"product_id":1,"quantity":2}]}"#
        )
    ]
}
