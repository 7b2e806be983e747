import HTTPTypes

// Spaces: further servers in this process.
extension HarnessAPI {
    func spaces(_ request: ControlRequest) async throws -> UpstreamResponse {
        guard let spaces = server.spaces else { throw ControlProblem.notFound("A space has no spaces of its own.") }
        switch request.path.count {
        case 1:
            try request.require(.get, .post)
            _ = try request.parameters()
            if request.method == .post { return try await make(request, in: spaces) }
            return .json(.ok, ["spaces": .array(spaces.all.map(\.value))])
        case 2:
            try request.require(.get, .delete)
            try request.requireNoMembers()
            return try await one(request, in: spaces)
        default: throw ControlProblem.notFound("There is nothing below /\(Self.prefix)/spaces/{name}.")
        }
    }

    private func make(_ request: ControlRequest, in spaces: any HarnessedSpaces) async throws -> UpstreamResponse {
        let order = try SpaceOrder(request)
        do {
            let made = try await spaces.make(order)
            var response = UpstreamResponse.json(.created, made.value)
            response.headers[.location] = "/\(Self.prefix)/spaces/\(made.name)"
            return response
        } catch let refusal as SpaceRefusal {
            throw ControlProblem(refusal)
        }
    }

    private func one(_ request: ControlRequest, in spaces: any HarnessedSpaces) async throws -> UpstreamResponse {
        let name = request.path[1]
        if request.method == .delete {
            if await spaces.end(name) { return UpstreamResponse(status: .noContent) }
        } else if let space = spaces.all.first(where: { $0.name == name }) {
            return .json(.ok, space.value)
        }
        throw ControlProblem.notFound(
            "There is no space '\(name)'.",
            field: "name",
            accepted: spaces.all.map(\.name)
        )
    }
}

extension ControlProblem {
    fileprivate init(_ refusal: SpaceRefusal) {
        switch refusal {
        case .taken(let name): self = .conflict("There is a space '\(name)' already.")
        case .full(let limit): self = .conflict("A process has at most \(limit) spaces; DELETE ends one.")
        case .unknownSnapshot(let name, let known):
            self = .notFound("There is no snapshot '\(name)'.", field: "from", accepted: known)
        case .failed(let reason):
            self.init(
                status: .internalServerError,
                code: "space-failed",
                title: "Not made",
                detail: "The space could not be started: \(reason)."
            )
        }
    }
}
