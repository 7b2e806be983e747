import HTTPTypes
import JSONValues
import Testing

@testable import Sandbox

/// Asks a catalogue without a server.
struct CatalogueCaller {
    let upstream: Catalogue
    static let origin = "http://127.0.0.1:4711"

    init(seed: UInt64 = 1) throws { upstream = try Catalogue(seed: seed) }

    func response(_ method: HTTPRequest.Method = .get, _ path: String, headers: HTTPFields = [:], body: String = "")
        -> UpstreamResponse
    {
        upstream.response(method, path, headers: headers, body: body, origin: Self.origin)
    }

    func json(_ path: String) throws -> JSONValue { try JSONParser.parse(response(.get, path).body) }

    func products(_ path: String) throws -> [JSONObject] { try #require(try json(path).array).compactMap(\.object) }

    func ids(_ query: String) throws -> [Int] {
        try products("/products\(query)").compactMap { $0["id"]?.double.map { Int($0) } }
    }

    func control(_ method: HTTPRequest.Method, _ path: String, _ body: String) throws -> UpstreamResponse {
        do {
            return try upstream.control(
                ControlRequest(
                    method: method,
                    path: path.split(separator: "/").map(String.init),
                    body: Array(body.utf8)
                )
            )
        } catch {
            return error.response
        }
    }
}
