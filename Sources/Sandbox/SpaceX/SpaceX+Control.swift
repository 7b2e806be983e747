import HTTPTypes

/// Changes of the ships for tests and demonstrations.
extension SpaceX {
    var controls: [ControlIndex.Line] {
        [
            .init(
                method: "PUT",
                path: "/_sandbox/spacex/ships/{id}",
                purpose: "merge-patches one ship (RFC 7396; null sets a key of the schema to null), or adds it",
                example: #"{"name":"Renamed","year_built":1999}"#
            ),
            .init(method: "DELETE", path: "/_sandbox/spacex/ships/{id}", purpose: "removes one ship"),
            .init(
                method: "PUT",
                path: "/_sandbox/spacex/ships",
                purpose:
                    "replaces the whole response of /v4/ships by any JSON; {origin} in a string is the sandbox's own",
                example: "[]"
            ),
        ]
    }

    func control(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        switch (request.path.first, request.path.count) {
        case ("ships", 1):
            try request.require(.put)
            let data = try request.json()
            ships.replace(with: data)
            return .json(.ok, ["ships": .integerOrNull(data.array?.count)])
        case ("ships", 2):
            try request.require(.put, .delete)
            let id = request.path[1]
            guard Ship.isIdentifier(id) else {
                throw .invalid(field: "id", value: id, accepted: ["24 hexadecimal digits in lower case"])
            }
            return request.method == .put ? try patch(id, with: try request.json()) : try remove(id)
        default:
            throw .nothing(at: ["spacex"] + request.path)
        }
    }

    private func patch(_ id: String, with patch: JSONValue) throws(ControlProblem) -> UpstreamResponse {
        guard let members = patch.object else {
            throw .invalid(
                field: "body",
                value: String(decoding: patch.serialized().prefix(60), as: UTF8.self),
                accepted: ["a JSON object"]
            )
        }
        if let other = members["id"], other != .string(id) {
            throw .invalid(field: "id", value: String(decoding: other.serialized(), as: UTF8.self), accepted: [id])
        }
        return try ships.update { (records) throws(ControlProblem) in
            guard var ships = records else { throw Self.noArray }
            let index = ships.firstIndex { $0.object?["id"] == .string(id) }
            let ship = (index.map { ships[$0] } ?? Ship.blank(id: id)).mergePatched(with: patch, keeping: Ship.keys)
            if let index { ships[index] = ship } else { ships.append(ship) }
            records = ships
            return .json(index == nil ? .created : .ok, ship)
        }
    }

    private func remove(_ id: String) throws(ControlProblem) -> UpstreamResponse {
        try ships.update { (records) throws(ControlProblem) in
            guard let ships = records else { throw Self.noArray }
            let left = ships.filter { $0.object?["id"] != .string(id) }
            guard left.count < ships.count else { throw .notFound("There is no ship \(id).") }
            records = left
            return .json(.ok, ["ships": .integer(left.count)])
        }
    }

    private static let noArray = ControlProblem.conflict(
        "The data was replaced by something that is no array; PUT /_sandbox/spacex/ships or POST /_sandbox/reset first."
    )
}
