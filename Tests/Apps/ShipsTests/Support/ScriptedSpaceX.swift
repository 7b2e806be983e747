import Foundation
import HTTPTypes
import Synchronization
import TestKit
import Upstream

/// A scripted SpaceX API: its list of ships or a failure, and pictures.
final class ScriptedSpaceX: Sendable {
    enum Behaviour: Sendable {
        /// The list of ships, with an ETag and 304 like the real API.
        case ships([String])
        case response(Int, HTTPFields = [:], String = "")
        case unreachable(UnreachableReason)
    }

    private final class Script: Sendable {
        let behaviour: Mutex<Behaviour>
        let pictures = Mutex<[String: IncomingResponse]>([:])

        init(_ behaviour: Behaviour) { self.behaviour = Mutex(behaviour) }
    }

    private let script: Script
    /// The transport that responds by the script.
    let upstream: ScriptedTransport

    init(_ behaviour: Behaviour = .ships(ShipFixtures.fleet)) {
        let script = Script(behaviour)
        self.script = script
        upstream = ScriptedTransport { (request) throws(UpstreamError) in
            if let picture = script.pictures.withLock({ $0[request.url] }) { return picture }
            return try Self.response(to: request, script.behaviour.withLock { $0 })
        }
    }

    /// Responds differently from now on.
    func become(_ behaviour: Behaviour) {
        script.behaviour.withLock { $0 = behaviour }
    }

    /// Serves a picture at a URL from now on.
    func showPicture(
        _ bytes: [UInt8],
        type: String = "image/png",
        status: Int = 200,
        headerFields: HTTPFields = [:],
        at url: String
    ) {
        var fields = headerFields
        fields[.contentType] = type
        let response = IncomingResponse(status: .init(code: status), headerFields: fields, body: bytes)
        script.pictures.withLock { $0[url] = response }
    }

    /// The requests so far.
    var requests: [OutgoingRequest] { upstream.requests }
    /// Requests for the list of ships.
    var listRequests: [OutgoingRequest] { requests.filter { $0.url.hasSuffix("/v4/ships") } }

    private static func response(to request: OutgoingRequest, _ behaviour: Behaviour) throws(UpstreamError)
        -> IncomingResponse
    {
        switch behaviour {
        case .unreachable(let reason):
            throw .unreachable(reason)
        case .response(let status, let fields, let body):
            return IncomingResponse(status: .init(code: status), headerFields: fields, body: Array(body.utf8))
        case .ships(let records):
            guard request.url == "https://api.test/v4/ships" else {
                return IncomingResponse(status: .notFound, body: Array("Not Found".utf8))
            }
            let body = ShipFixtures.list(records)
            let tag = "\"\(body.hashValue)\""
            if request.headerFields[.ifNoneMatch] == tag {
                return IncomingResponse(status: .notModified, headerFields: [.eTag: tag])
            }
            let fields: HTTPFields = [
                .contentType: "application/json; charset=utf-8", .eTag: tag, .cacheControl: "max-age=300",
            ]
            return IncomingResponse(status: .ok, headerFields: fields, body: Array(body.utf8))
        }
    }
}
