package import Foundation
import HTTPTypes
import JSONValues

// Snapshots of the server with its upstreams and its clock.
extension HarnessAPI {
    func snapshots(_ request: ControlRequest) async throws -> UpstreamResponse {
        let path = request.path
        switch path.count {
        case 1:
            try request.require(.get)
            try request.requireNoMembers()
            return .json(.ok, ["snapshots": .array(server.snapshotList.map(\.json))])
        case 2:
            try request.require(.get, .put, .delete)
            try request.requireNoMembers()
            return try await one(path[1], request.method)
        case 3 where path[2] == "restore":
            try request.require(.post)
            try request.requireNoMembers()
            guard try await reporting({ try await server.restore(path[1]) { [stage] in stage.restore($0) } }) else {
                throw missing(path[1])
            }
            return UpstreamResponse(status: .noContent)
        case 3 where path[2] == "archive":
            try request.require(.get)
            try request.requireNoMembers()
            let bytes = try await reporting { try await server.archive(path[1]) { [stage] in try stage.encode($0) } }
            guard let bytes else { throw missing(path[1]) }
            return UpstreamResponse(status: .ok, headers: [.contentType: "application/x-tar"], body: bytes)
        default:
            throw ControlProblem.notFound("There is nothing here; GET /\(Self.prefix) lists what there is.")
        }
    }

    private func one(_ name: String, _ method: HTTPRequest.Method) async throws -> UpstreamResponse {
        switch method {
        case .put:
            let name = try ControlName.checked(name)
            let isNew = !server.snapshotList.contains { $0.name == name }
            let made = try await reporting { try await server.save(name) { [stage] in stage.save() } }
            return .json(isNew ? .created : .ok, made.json)
        case .delete:
            guard try await reporting({ try await server.forget(name) }) else { throw missing(name) }
            return UpstreamResponse(status: .noContent)
        default:
            guard let snapshot = server.snapshotList.first(where: { $0.name == name }) else { throw missing(name) }
            return .json(.ok, snapshot.json)
        }
    }

    private func missing(_ name: String) -> ControlProblem {
        .notFound("There is no snapshot '\(name)'.", field: "name", accepted: server.snapshotList.map(\.name))
    }

    /// Turns an error into a problem.
    func reporting<Result>(_ work: () async throws -> Result) async throws -> Result {
        do {
            return try await work()
        } catch let error as CancellationError {
            throw error
        } catch {
            throw ControlProblem.resetFailed("\(error)")
        }
    }
}

/// A snapshot as the controls show it.
package struct SnapshotDescription: Sendable {
    package let name: String
    let at: Date

    /// - Parameter at: when it was taken, by the clock of the server.
    package init(name: String, at: Date) {
        (self.name, self.at) = (name, at)
    }

    var json: JSONValue { ["name": .string(name), "at": .string(at.formatted(ControlFields.timeForm))] }
}
