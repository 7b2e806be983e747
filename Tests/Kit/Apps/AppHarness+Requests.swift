package import Foundation
package import HTTPTypes
import Screens
import Testing

extension AppHarness {
    /// Sends a request.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - target: path and query.
    ///   - client: the client's token or profile, by ``AppSurroundings/identification``.
    ///   - headerFields: further header fields.
    ///   - body: a body; without a type it is declared as JSON.
    /// - Returns: The whole response.
    /// - Throws: the errors of the router.
    package func ask(
        _ method: HTTPRequest.Method,
        _ target: String,
        as client: String? = nil,
        _ headerFields: HTTPFields = [:],
        body: Data? = nil
    ) async throws -> Exchanged {
        switch identification {
        case .token: return try await routed.ask(method, target, as: client, headerFields, body: body)
        case .profile:
            var fields = headerFields
            if let client { fields[.larderProfile] = client }
            return try await routed.ask(method, target, as: nil, fields, body: body)
        }
    }

    /// Sends a request with a body of JSON text.
    package func ask(
        _ method: HTTPRequest.Method,
        _ target: String,
        as client: String? = nil,
        _ headerFields: HTTPFields = [:],
        json: String?
    ) async throws -> Exchanged {
        try await ask(method, target, as: client, headerFields, body: json.map { Data($0.utf8) })
    }

    /// Sends a GET.
    package func get(_ target: String, as client: String? = nil, _ headerFields: HTTPFields = [:]) async throws
        -> Exchanged
    {
        try await ask(.get, target, as: client, headerFields)
    }

    /// Waits for the probe of an upstream, lets it succeed, and waits until clients were notified.
    ///
    /// - Parameter respond: makes the upstream respond again.
    package func recover(_ respond: () -> Void) async {
        // The default of `probe_interval_ms`.
        await clock.sleepers(of: .seconds(5))
        respond()
        clock.advance(by: .seconds(5))
        await events.published("connectivity", containing: #""reachable":true"#)
    }
}
