import Foundation
import TestKit
import Testing

/// Clients that write and delete documents and notes until a test stops them, and remember the acknowledged writes.
final class BackupLoad: Sendable {
    /// Documents and notes that exist, as far as the clients know.
    struct Written: Sendable {
        /// Bytes of the files of documents, by address.
        var documents: [String: Data] = [:]
        /// Identities of notes.
        var notes: Set<String> = []

        func subtracting(_ others: Written) -> Written {
            Written(
                documents: documents.filter { others.documents[$0.key] == nil },
                notes: notes.subtracting(others.notes)
            )
        }
    }

    private struct State {
        var written = Written()
        var deleted = Written()
        var isStopped = false
        var acknowledged = 0
    }

    static let settings = ["--notes-scrypt-logarithm", "10"]

    /// A client with an account of Notes.
    let member: Client
    private let client: Client
    private let state = Watched(State())

    /// Registers an account.
    init(_ larder: RunningLarder) async throws {
        client = larder.client
        var member = larder.client
        let body = #"{"mode":"register","username":"bob","password":"correct horse"}"#
        member.token = try await member.post("/v1/notes/session", body).json.data.token.string
        self.member = member
    }

    /// Acknowledged documents and notes whose deletion was not begun.
    var acknowledged: Written {
        let state = state.value
        return state.written.subtracting(state.deleted)
    }

    /// Documents and notes whose deletion was begun.
    var deletions: Written { state.value.deleted }

    func stop() { state.update { $0.isStopped = true } }

    /// Waits until some more writes were acknowledged.
    func progress() async {
        let goal = state.value.acknowledged + 6
        await state.suspend { $0.acknowledged >= goal || $0.isStopped }
    }

    /// Writes until it is stopped. A write that fails ends the test.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.repeating(self.writeDocument) }
            group.addTask { await self.repeating(self.writeDocument) }
            group.addTask { await self.repeating(self.writeNote) }
        }
    }

    private func repeating(_ write: (Int) async throws -> Void) async {
        for number in 1... {
            guard !state.value.isStopped else { return }
            do {
                try await write(number)
            } catch {
                Issue.record(error)
                return stop()
            }
        }
    }

    /// Makes a document, and deletes an older one, with its file.
    private func writeDocument(_ number: Int) async throws {
        let href = try await client.document(of: [DocumentTests.photo])
        #expect(try await client.post("\(href)/save", "{}").status == 200)
        let bytes = try await client.get("\(href)/file").body
        let old = state.update { state -> String? in
            state.written.documents[href] = bytes
            state.acknowledged += 1
            let left = state.written.subtracting(state.deleted).documents
            guard left.count > 12, let old = left.keys.randomElement() else { return nil }
            state.deleted.documents[old] = Data()
            return old
        }
        if let old { #expect(try await client.delete("\(old)?permanently=true").status == 200) }
    }

    private func writeNote(_ number: Int) async throws {
        let place = #"{"lat":\#(number % 90),"lon":\#(number % 180),"name":"Place"}"#
        let response = try await member.post("/v1/notes", #"{"body":"note \#(number)","location":\#(place)}"#)
        #expect(response.status == 201, "\(response.text)")
        let id = try #require(try response.json.data.id.string)
        let old = state.update { state -> String? in
            state.written.notes.insert(id)
            state.acknowledged += 1
            let left = state.written.notes.subtracting(state.deleted.notes)
            guard left.count > 40, let old = left.randomElement() else { return nil }
            state.deleted.notes.insert(old)
            return old
        }
        if let old { #expect(try await member.delete("/v1/notes/\(old)").status == 200) }
    }
}
