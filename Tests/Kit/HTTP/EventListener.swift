package import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// Listens to `/v1/events` over a real connection; for one test at a time.
package final class EventListener {
    package struct Event: Sendable {
        package let id: String
        package let kind: String
        package let data: JSON
    }

    private var iterator: HTTPClientResponse.Body.AsyncIterator
    private var pending = ""
    /// The id of the last event.
    package private(set) var identity: String?

    private init(_ body: HTTPClientResponse.Body) {
        iterator = body.makeAsyncIterator()
    }

    /// Connects, and reads the opening of the stream: from here on nothing is missed.
    package static func open(
        _ url: String,
        _ headers: [String: String] = [:],
        lastEventID: String? = nil,
        http: HTTPClient = Client.http
    ) async throws -> EventListener {
        var request = HTTPClientRequest(url: url)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let lastEventID { request.headers.add(name: "Last-Event-ID", value: lastEventID) }
        let response = try await http.execute(request, timeout: Client.timeout)
        let listener = EventListener(response.body)
        if lastEventID == nil { _ = try await listener.block() }
        return listener
    }

    /// The next event of a kind, others are passed over; without one the next event.
    package func next(_ wanted: String? = nil) async throws -> Event? {
        while let lines = try await block() {
            guard let kind = lines["event"], wanted.map({ $0 == kind }) ?? true, let data = lines["data"] else {
                continue
            }
            return Event(id: lines["id"] ?? "", kind: kind, data: try JSON(Data(data.utf8)))
        }
        return nil
    }

    /// The fields of the next block; nil at the end of the stream.
    private func block() async throws -> [String: String]? {
        while true {
            if let end = pending.range(of: "\n\n") {
                let lines = pending[..<end.lowerBound].split(separator: "\n")
                pending = String(pending[end.upperBound...])
                var fields: [String: String] = [:]
                for line in lines {
                    let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                    if parts.count == 2, !parts[0].isEmpty {
                        fields[String(parts[0])] = parts[1].trimmingCharacters(in: .whitespaces)
                    }
                }
                if let id = fields["id"] { identity = id }
                return fields
            }
            guard let chunk = try await iterator.next() else { return nil }
            pending += String(buffer: chunk)
        }
    }
}
