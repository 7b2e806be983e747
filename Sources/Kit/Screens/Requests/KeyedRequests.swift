import Cluster
import Crypto
import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import Storage
import Synchronization

/// A request with an `Idempotency-Key`, on its way to its stored response.
final class KeyedRequest: Sendable {
    /// The identity of the row: a digest of the key and its sender, which tells nothing to a reader without the key.
    let id: Data
    /// A digest of the sender.
    let audience: Data
    /// The HMAC of method and target.
    let head: Data
    let arrival: Int64
    private let sealing: SymmetricKey
    /// The HMAC of the bytes read so far, whether reading has begun, and whether it has ended.
    ///
    /// The HMACs of head and body use the client's key: from a plain digest a reader of the file could guess a
    /// password.
    private let body: Mutex<(code: HMAC<SHA256>, isBegun: Bool, isWhole: Bool)>
    private let isStoredWithChange = Mutex(false)
    private let isForm: Bool
    private let isStoredBeforeChange = Mutex(false)
    private let users: UserDatabase

    init(_ request: ScreenRequest, _ key: IdempotencyKey, audience: String, in users: UserDatabase, at now: Date) {
        self.users = users
        self.audience = Self.digest("audience", audience)
        id = Self.digest("key", audience, key.text)
        let sealing = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: Data(key.text.utf8)),
            salt: self.audience,
            outputByteCount: 32
        )
        self.sealing = sealing
        let target = Data("\(request.method.rawValue) \(request.target)".utf8)
        head = Data(HMAC<SHA256>.authenticationCode(for: target, using: sealing))
        body = Mutex((code: HMAC<SHA256>(key: sealing), isBegun: false, isWhole: false))
        arrival = now.millisecondsSince1970
        // A client that sends a form again mostly chooses another boundary.
        isForm = request.headerFields[.contentType]?.lowercased().hasPrefix("multipart/") ?? false
    }

    /// The lock of changes of the row. There are few: the journal remembers each.
    var scope: String { "responses/\(id.first ?? 0)" }

    /// Stores the key, once.
    ///
    /// - Throws: ``KeyedResponses/Known``, 400 `invalid-parameter`, `StorageError`, `ClusterError`.
    func keep() async throws {
        guard !isKept else { return }
        do {
            try await users.write(scope: scope) { try KeyedResponses.insert(self, nil, $0) }
        } catch let error as ClusterError where error == .outcomeUnknown {
            isStoredBeforeChange.withLock { $0 = true }
            throw error
        }
        isStoredBeforeChange.withLock { $0 = true }
    }

    /// Whether the key is stored before the change.
    var isKept: Bool { isStoredBeforeChange.withLock(\.self) }

    /// Whether the response was stored in the transaction of the change.
    var isAnswered: Bool { isStoredWithChange.withLock(\.self) }

    /// The HMAC of the body; nil if the body was not read to its end, or is a form.
    var bodyCode: Data? {
        guard !isForm else { return nil }
        return body.withLock { $0.isWhole ? Data($0.code.finalize()) : nil }
    }

    /// Whether the body was not read yet: it can be read once.
    var isUnread: Bool { body.withLock { !$0.isBegun } }

    func noteReading() { body.withLock { $0.isBegun = true } }

    func note(_ part: ByteBuffer?) {
        body.withLock { body in
            if let part { body.code.update(data: Data(part.readableBytesView)) } else { body.isWhole = true }
        }
    }

    func seal(_ response: ScreenResponse) throws -> Data? { try SealedResponse.seal(response, by: sealing) }

    func open(_ sealed: Data) throws -> ScreenResponse { try SealedResponse.open(sealed, by: sealing) }

    /// Returns the part of a change's transaction that stores the response.
    func companion<Value: Sendable>(
        _ response: @escaping @Sendable (Value) throws -> ScreenResponse,
        _ made: @escaping @Sendable (ScreenResponse?) -> Void
    ) -> WriteCompanion {
        WriteCompanion(of: Value.self, locks: [scope]) { db in
            made(nil)
            guard let row = try KeyedResponses.row(self.id, db) else { return }
            guard self.isKept, row.response == nil else { throw KeyedResponses.Known() }
        } after: { value, db in
            let response = try response(value)
            try KeyedResponses.insert(self, response, db)
            made(response)
        }
    }

    func noteAnswered() { isStoredWithChange.withLock { $0 = true } }

    private static func digest(_ parts: String...) -> Data {
        var digest = SHA256()
        for part in parts {
            digest.update(data: Data("\(part.utf8.count) ".utf8))
            digest.update(data: Data(part.utf8))
        }
        return Data(digest.finalize())
    }
}

/// A body whose HMAC is computed while it is read.
struct DigestedBody: AsyncSequence, Sendable {
    struct AsyncIterator: AsyncIteratorProtocol {
        var base: RequestBody.AsyncIterator
        let keyed: KeyedRequest

        mutating func next() async throws -> ByteBuffer? {
            let part = try await base.next()
            keyed.note(part)
            return part
        }
    }

    let body: RequestBody
    let keyed: KeyedRequest

    func makeAsyncIterator() -> AsyncIterator {
        keyed.noteReading()
        return AsyncIterator(base: body.makeAsyncIterator(), keyed: keyed)
    }
}

extension ScreenRequest {
    /// Stores the `Idempotency-Key` of the request, if it has one, before a change that is made elsewhere. After a
    /// failure it would be unknown whether that was made.
    ///
    /// - Throws: errors of the store, and that the key is known, which the route responds to.
    package func keepKey() async throws { try await keyed?.keep() }

    /// Makes a change, whose response is stored in the same transaction if the request has an `Idempotency-Key`.
    ///
    /// - Parameters:
    ///   - response: makes the response of the value that the transaction returns, before it is committed. It reads
    ///     nothing that the transaction has changed, and may run twice.
    ///   - change: runs one transaction (`UserDatabase.write`) that returns that value.
    /// - Throws: errors of both.
    package func answering<Value: Sendable>(
        _ response: @escaping @Sendable (Value) throws -> ScreenResponse,
        to change: () async throws -> Value
    ) async throws -> (value: Value, response: ScreenResponse) {
        guard let keyed else {
            let value = try await change()
            return (value, try response(value))
        }
        // The transaction runs outside of the task.
        let (language, zone, profile) = (Language.current, ClientTimeZone.current, Link.Profile.current)
        let forms = ScreenForms.current
        let made = Made()
        let companion = keyed.companion { (value: Value) in
            try Language.$current.withValue(language) {
                try ClientTimeZone.$current.withValue(zone) {
                    try ScreenForms.$current.withValue(forms) {
                        try Link.Profile.$current.withValue(profile) { try response(value) }
                    }
                }
            }
        } _: { response in
            made.response.withLock { $0 = response }
        }
        let value = try await WriteCompanion.$current.withValue(companion) { try await change() }
        guard let stored = made.response.withLock(\.self) else { return (value, try response(value)) }
        keyed.noteAnswered()
        return (value, stored)
    }

    private final class Made: Sendable {
        let response = Mutex<ScreenResponse?>(nil)
    }
}
