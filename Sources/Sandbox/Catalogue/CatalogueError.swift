import HTTPTypes
import JSONValues

/// The errors of the catalogue. They have three shapes, depending on the layer of the server that found the error.
enum CatalogueError: Error, Equatable {
    /// No such row: 400, not 404. `condition` is the search.
    case missing(entity: String, relations: Bool, condition: JSONValue)
    /// The database refused.
    case queryFailed(message: String, code: String)
    /// The body is not acceptable: a list of messages.
    case invalid([String])
    /// A segment of the path that must be a number is not one: one message.
    case notNumeric
    case unknownRoute
    case crash

    func respond(to request: UpstreamRequest) -> UpstreamResponse {
        let path = "/api/v1/\(request.path.joined(separator: "/"))"
        switch self {
        case .missing(let entity, let relations, let condition):
            return database(
                path,
                name: "EntityNotFoundError",
                message: Self.missing(entity, relations: relations, condition)
            )
        case .queryFailed(let message, let code):
            return database(path, name: "QueryFailedError", message: message, code: code)
        case .invalid(let messages):
            return refusal(.badRequest, "Bad Request", .array(messages.map { .string($0) }))
        case .notNumeric:
            return refusal(.badRequest, "Bad Request", "Validation failed (numeric string is expected)")
        case .unknownRoute:
            return refusal(.notFound, "Not Found", .string("Cannot \(request.method.rawValue) \(path)"))
        case .crash:
            return .json(.internalServerError, ["statusCode": 500, "message": "Internal server error"])
        }
    }

    private static func missing(_ entity: String, relations: Bool, _ condition: JSONValue) -> String {
        var sought = JSONObject()
        if relations {
            sought["relations"] = ["category"]
            sought["where"] = condition
        } else if let members = condition.object {
            sought = members
        }
        // As `JSON.stringify(value, null, 4)` writes it.
        let text = String(decoding: JSONText.indented(JSONValue.object(sought).serialized(), by: 4), as: UTF8.self)
        return "Could not find any entity of type \"\(entity)\" matching: \(text)"
    }

    private func refusal(_ status: HTTPResponse.Status, _ error: String, _ message: JSONValue) -> UpstreamResponse {
        .json(status, ["message": message, "error": .string(error), "statusCode": .integer(status.code)])
    }

    private func database(_ path: String, name: String, message: String, code: String? = nil) -> UpstreamResponse {
        let body: JSONObject = [
            "path": .string(path), "timestamp": .string(Catalogue.seededAt), "name": .string(name),
            "message": .string(message), "code": code.map { .string($0) },
        ]
        return .json(.badRequest, .object(body))
    }
}
