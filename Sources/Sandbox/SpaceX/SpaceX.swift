import HTTPTypes
import JSONValues

/// The ships of the SpaceX REST API v4 (`r-spacex/SpaceX-API`, docs/ships/v4) and a host of pictures for them, with
/// made data.
final class SpaceX: SimulatedUpstream {
    let name = SandboxUpstream.spacex.rawValue
    let ships: ShipRecords
    private let pictures: PictureHost

    /// - Throws: ``SandboxError/malformedData(resource:reason:)`` if the built-in ships are not JSON.
    init(seed: UInt64) throws(SandboxError) {
        do {
            ships = ShipRecords(initial: try JSONParser.parse(PackageResources.ships_json))
        } catch {
            throw .malformedData(resource: "ships.json", reason: error.description)
        }
        pictures = PictureHost(
            path: "/spacex/images",
            page: ("showphoto.aspx", Self.page),
            redirectsInside: false,
            picture: { ShipPicture.png(name: $0, seed: seed) }
        )
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
            // Writing needs a key that is not public. The real service responds with the URL of a video.
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

    /// Returns a response with the recorded fields. After a change of the data, all requests but the first are served
    /// by the API's own cache.
    private func cached(_ body: [UInt8], key: String, _ request: UpstreamRequest) -> UpstreamResponse {
        UpstreamResponse(status: .ok, headers: Self.fields(hit: ships.wasServed(key)), body: body)
            .conditional(on: request)
    }

    private static let notFound = UpstreamResponse.text(.notFound, "Not Found")
}

/// Changes of the ships for tests and demonstrations.
extension SpaceX {
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
            throw .invalid(field: "body", value: patch.excerpt, accepted: ["a JSON object"])
        }
        if let other = members["id"], other != .string(id) {
            throw .invalid(field: "id", value: other.json, accepted: [id])
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

extension SpaceX {
    /// Returns the fields of a 200 as recorded in 2021; `Date` is the server's, `ETag` that of the body.
    static func fields(hit: Bool) -> HTTPFields {
        [
            .contentType: "application/json; charset=utf-8",
            .accessControlAllowOrigin: "*",
            .accessControlExposeHeaders: "spacex-api-cache,spacex-api-response-time",
            .cacheControl: "max-age=300",
            .name("spacex-api-cache"): hit ? "HIT" : "MISS",
            .name("spacex-api-cache-online"): "true",
            .name("spacex-api-response-time"): "0ms",
            .vary: "Accept-Encoding, Origin",
            .name("cf-cache-status"): "DYNAMIC",
            .server: "cloudflare",
        ]
    }

    private static let page =
        "<!DOCTYPE html>\n<html><head><title>Ship photo</title></head><body>"
        + "<p>Please sign in to see this photo.</p></body></html>\n"
}
