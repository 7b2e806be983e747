import HTTPTypes

// Recordings of the server's upstreams.
extension HarnessAPI {
    func listFixtures(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        try request.require(.get)
        _ = try request.parameters()
        return .json(.ok, ["upstreams": .array(server.fixtures.upstreams.map { .object($0.summary) })])
    }

    /// Responds to the calls below `upstreams/{name}`.
    func fixtures(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        let known = server.fixtures.upstreams
        guard let fixtures = known.first(where: { $0.name == request.path[1] }) else {
            throw .notFound("There is no upstream '\(request.path[1])'.", field: "name", accepted: known.map(\.name))
        }
        _ = try request.parameters()
        switch Array(request.path.dropFirst(2)) {
        case []:
            try request.require(.get)
            return .json(.ok, .object(fixtures.details))
        case ["mode"]:
            try request.require(.put)
            try setMode(request, fixtures)
            return .json(.ok, .object(fixtures.summary))
        default:
            throw .notFound("There is no /\(Self.prefix)/\(request.path.joined(separator: "/")).")
        }
    }

    private func setMode(_ request: ControlRequest, _ fixtures: UpstreamFixtures) throws(ControlProblem) {
        let fields = try ControlFields(request.json())
        try fields.require(only: "mode")
        let mode = try fields.required("mode", try fields.choice("mode", of: FixtureMode.self))
        do throws(FixtureError) {
            try fixtures.setMode(mode)
        } catch {
            if case .readOnly = error {
                throw .conflict("\(error); record with the server that makes the spaces.")
            }
            throw .conflict("\(mode.rawValue) needs a folder: \(error); set it when Larder starts.")
        }
    }
}
