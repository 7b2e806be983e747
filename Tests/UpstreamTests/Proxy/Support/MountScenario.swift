import Foundation
import HTTP
import HTTPTypes
import NIOCore
import Storage
import TestKit
import Testing

@testable import Concurrency
@testable import Upstream

/// A scene with a mount, and the responses of the mount as a client gets them.
struct MountScenario {
    let scene: Scenario
    let mount: Mount

    init(
        _ options: MountOptions = MountOptions(),
        budget: CacheBudget = .unlimited,
        directory: DataDirectory? = nil
    ) throws {
        scene = try Scenario(budget: budget, directory: directory) { $0.mount = options }
        let secrets = try SealedSecrets(scene.database)
        mount = Mount(scene.upstream, hasher: try secrets.credentialHasher(), secrets: secrets)
    }

    struct Seen: Equatable {
        let status: Int
        let fields: HTTPFields
        let body: String
        var cacheStatus: String? { fields[.cacheStatus] }
        var isOffline: Bool { fields[.larderOffline] == "?1" }
    }

    @discardableResult
    func ask(
        _ method: HTTPRequest.Method = .get,
        _ target: String = "/thing",
        _ fields: HTTPFields = [:],
        body: String? = nil
    ) async throws -> Seen {
        let stream = body.map { ByteStream(ByteBuffer(string: $0)) }
        let response = try await mount.respond(
            to: MountRequest(
                method: method,
                target: target,
                mountURL: "http://larder.test/v1/upstreams/ships",
                headerFields: fields,
                body: stream,
                bodyLength: body?.utf8.count
            )
        )
        var bytes = ByteBuffer()
        switch response.body {
        case .none: break
        case .bytes(let whole): bytes = whole
        case .stream(let parts, _): for try await part in parts { bytes.writeImmutableBuffer(part) }
        }
        return Seen(status: response.head.status.code, fields: response.head.headerFields, body: String(buffer: bytes))
    }

    /// The number of stored responses of the mount.
    var storedCount: Int {
        get throws {
            try ResponseStore(scene.database).totals().first { $0.upstream == mount.store.name }?.responses ?? 0
        }
    }

    /// Date of a response made now, as fields.
    func fields(_ cacheControl: String, _ more: HTTPFields = [:]) -> HTTPFields {
        var fields = more
        fields[.cacheControl] = cacheControl
        return fields
    }
}
