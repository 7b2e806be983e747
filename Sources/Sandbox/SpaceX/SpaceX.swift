import HTTPTypes

/// The ships of the SpaceX REST API v4 (`r-spacex/SpaceX-API`, docs/ships/v4) and a host of pictures for them, with
/// made data.
final class SpaceX: SimulatedUpstream {
    let name = SandboxUpstream.spacex.rawValue
    let ships: ShipRecords
    private let pictures: ShipPictures

    /// - Throws: ``SandboxError/malformedData(resource:reason:)`` if the built-in ships are not JSON.
    init(seed: UInt64) throws(SandboxError) {
        do {
            ships = ShipRecords(initial: try JSONParser.parse(PackageResources.ships_json))
        } catch {
            throw .malformedData(resource: "ships.json", reason: error.description)
        }
        pictures = ShipPictures(seed: seed)
    }

    func reset() { ships.reset() }

    func respond(to request: UpstreamRequest) -> UpstreamResponse {
        let method = request.method == .head ? .get : request.method
        let path = request.path
        switch (method, path.first, path.count) {
        case (.get, "images", 2...):
            return pictures.respond(to: request)
        case (.get, "v4", 3) where path[1] == "admin" && path[2] == "health":
            return .text(.ok, "OK")
        case (_, "v4", 2...), (_, "latest", 2...):
            return path[1] == "ships" ? shipsResponse(method, Array(path.dropFirst(2)), request) : Self.notFound
        default:
            return Self.notFound
        }
    }

    private func shipsResponse(_ method: HTTPRequest.Method, _ path: [String], _ request: UpstreamRequest)
        -> UpstreamResponse
    {
        switch (method, path.count) {
        case (.get, 0):
            return cached(ships.list(origin: request.origin), key: "list", request)
        case (.get, 1):
            guard let ship = ships.ship(id: path[0], origin: request.origin) else { return Self.notFound }
            return cached(ship, key: path[0], request)
        case (.post, 1) where path[0] == "query":
            return query(request)
        case (.post, 0), (.patch, 1), (.delete, 1):
            // Writing needs a key that is not public; the real text is the URL of a video.
            return .text(.unauthorized, "https://video.example/not-for-you")
        default:
            return Self.notFound
        }
    }

    private func query(_ request: UpstreamRequest) -> UpstreamResponse {
        do {
            let query = try ShipQuery(body: request.body)
            return cached(
                query.page(of: ships.all(origin: request.origin)).serialized(),
                key: "query \(request.body)",
                request
            )
        } catch {
            return .text(.badRequest, error.message)
        }
    }

    /// Returns a response with the recorded fields; the API's own cache serves all requests but the first after a
    /// change.
    private func cached(_ body: [UInt8], key: String, _ request: UpstreamRequest) -> UpstreamResponse {
        UpstreamResponse(status: .ok, headers: SpaceXHeaders.fields(hit: ships.wasServed(key)), body: body).conditional(
            on: request
        )
    }

    private static let notFound = UpstreamResponse.text(.notFound, "Not Found")
}
