package import Concurrency
import Crypto
package import Foundation
import HTTPTypes
import Server
import Synchronization

/// Makes codes, and devices of codes.
package final class Pairing: Sendable {
    /// A code that was made.
    package struct Made: Sendable {
        package let code: PairingCode
        package let end: Date
    }

    /// The profile of devices whose code names none, and of data that a test seeds without one.
    package static let standardProfile = "local"

    private let devices: DeviceStore
    private let file: PairingCodeFile?
    private let clock: WallClock
    private let ledger = Mutex(PairingLedger())
    /// Held while the file is read: a request that waits for it finds the code in the ledger.
    private let reading = Mutex(())

    /// - Parameter file: Where another program leaves codes; nil for none.
    package init(devices: DeviceStore, file: PairingCodeFile? = nil, clock: WallClock) {
        self.devices = devices
        self.file = file
        self.clock = clock
    }

    /// Makes a code, which replaces the one before.
    package func makeCode(profile: String = standardProfile) -> Made {
        let (code, end) = (PairingCode.make(), clock.now().addingTimeInterval(PairingCode.lifetime))
        ledger.withLock { $0.offer(PairingLedger.Offer(codeHash: code.hash, profile: profile, end: end)) }
        return Made(code: code, end: end)
    }

    /// Pairs a device.
    ///
    /// - Parameter address: The client, which has a limit of wrong codes.
    /// - Throws: 403 for a wrong or late code, 409 if there are too many devices, 429 after too many wrong codes;
    ///   `StorageError`, then the code is as before.
    func pair(_ typed: String, name: String, from address: String?, _ carrier: SessionCarrier) async throws
        -> (device: Device, token: String)
    {
        guard devices.hasRoom else { throw Problem.tooManyDevices }
        let now = clock.now()
        // The file is not read for an address that has to wait.
        if ledger.withLock({ $0.wait(of: address, at: now) }) == nil { takeCode(now: now) }
        let outcome = ledger.withLock { $0.use(PairingCode(typed)?.hash, by: address, at: now) }
        switch outcome {
        case .right(let offer): return try await add(name, of: offer, carrier)
        case .late: throw Problem(.pairingRefused, .lateCode)
        case .wrong: throw Problem(.pairingRefused, .wrongCode)
        case .tooMany(let seconds):
            throw Problem(.rateLimited, .tooManyCodes, headerFields: [.retryAfter: String(seconds)])
        }
    }

    /// Offers the code that another program has left.
    private func takeCode(now: Date) {
        reading.withLock { _ in
            guard let left = file?.take() else { return }
            let end = min(left.end, now.addingTimeInterval(PairingCode.lifetime))
            let offer = PairingLedger.Offer(codeHash: left.codeHash, profile: left.profile, end: end)
            ledger.withLock { $0.offer(offer) }
        }
    }

    private func add(_ name: String, of offer: PairingLedger.Offer, _ carrier: SessionCarrier) async throws
        -> (device: Device, token: String)
    {
        do {
            return try await devices.add(name: name, profile: offer.profile, carrier)
        } catch {
            ledger.withLock { $0.giveBack(offer) }
            throw error
        }
    }
}

/// The code that may be used now, and the wrong codes of each address. A value without a clock and without randomness.
struct PairingLedger: Sendable {
    /// A code that was made.
    struct Offer: Sendable, Equatable, Codable {
        let codeHash: Data
        /// The profile of the device that uses it.
        let profile: String
        /// When it expires.
        let end: Date
    }

    enum Outcome: Equatable {
        /// It was the code, which no other client can use from here on.
        case right(Offer)
        /// It was the code, which has expired.
        case late
        case wrong
        /// The address has to wait for some seconds.
        case tooMany(seconds: Int)
    }

    private(set) var offer: Offer?
    private(set) var attempts = PairingAttempts()

    /// Offers a code in place of the one before.
    mutating func offer(_ offer: Offer) { self.offer = offer }

    /// Offers a code again whose device could not be stored, unless there is a newer one.
    mutating func giveBack(_ offer: Offer) { if self.offer == nil { self.offer = offer } }

    /// Returns the seconds after which an address may try again; nil if it may now.
    func wait(of address: String?, at now: Date) -> Int? { attempts.wait(of: address, at: now) }

    /// Uses a code.
    ///
    /// - Parameters:
    ///   - codeHash: The hash of the typed text; nil if that cannot be a code.
    ///   - address: The client.
    mutating func use(_ codeHash: Data?, by address: String?, at now: Date) -> Outcome {
        if let seconds = wait(of: address, at: now) { return .tooMany(seconds: seconds) }
        guard let codeHash, let offer, Self.equal(codeHash, offer.codeHash) else {
            attempts.noteWrong(of: address, at: now)
            return .wrong
        }
        guard now < offer.end else { return .late }
        attempts.forget(address)
        self.offer = nil
        return .right(offer)
    }

    /// Compares in a time that does not depend on where two hashes differ.
    private static func equal(_ a: Data, _ b: Data) -> Bool {
        a.count == b.count && zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// Wrong codes by the address that they came from. A value without a clock; bounded.
struct PairingAttempts: Sendable {
    /// Wrong codes that an address may send in a window.
    static let perAddress = 10
    /// Wrong codes in a window from all addresses that are not remembered individually.
    static let ofOthers = 100
    /// Addresses that are remembered.
    static let addresses = 1024
    /// Seconds of a window.
    static let window: TimeInterval = 600

    private struct Count {
        var wrong = 0
        let since: Date

        func isOver(at now: Date) -> Bool { now.timeIntervalSince(since) >= window || now < since }
    }

    private var counts: [String: Count] = [:]
    private var others: Count?

    /// Number of addresses that are remembered.
    var count: Int { counts.count }

    /// Returns the seconds after which an address may try again; nil if it may now.
    func wait(of address: String?, at now: Date) -> Int? {
        let known = address.flatMap { counts[$0] }
        if address != nil, known == nil, hasRoom(at: now) { return nil }
        let (count, limit) = known.map { ($0, Self.perAddress) } ?? (others, Self.ofOthers)
        guard let count, count.wrong >= limit, !count.isOver(at: now) else { return nil }
        return max(1, Int((Self.window - now.timeIntervalSince(count.since)).rounded(.up)))
    }

    mutating func noteWrong(of address: String?, at now: Date) {
        guard let address, makeRoom(for: address, at: now) else {
            others = Self.counted(others, at: now)
            return
        }
        counts[address] = Self.counted(counts[address], at: now)
    }

    /// Forgets the wrong codes of an address that had the right one.
    mutating func forget(_ address: String?) {
        if let address { counts[address] = nil }
    }

    /// Whether another address can be remembered, if need be in place of those whose window is over.
    private func hasRoom(at now: Date) -> Bool {
        counts.count < Self.addresses || counts.values.contains { $0.isOver(at: now) }
    }

    /// Whether an address is remembered, or can be, if need be in place of those whose window is over.
    private mutating func makeRoom(for address: String, at now: Date) -> Bool {
        if counts[address] != nil || counts.count < Self.addresses { return true }
        counts = counts.filter { !$0.value.isOver(at: now) }
        return counts.count < Self.addresses
    }

    private static func counted(_ count: Count?, at now: Date) -> Count {
        var count = count.flatMap { $0.isOver(at: now) ? nil : $0 } ?? Count(since: now)
        count.wrong += 1
        return count
    }
}

/// A code that a device is paired with: eight characters of Crockford's base 32, in which none look alike.
package struct PairingCode: Sendable, Equatable {
    /// Seconds in which a code may be used.
    package static let lifetime: TimeInterval = 600
    static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    static let length = 8

    /// The characters without the hyphen, upper case.
    private let characters: [UInt8]

    /// Returns a code of 40 random bits.
    package static func make() -> PairingCode {
        let bytes = SymmetricKey(size: SymmetricKeySize(bitCount: 8 * length)).withUnsafeBytes { Array($0) }
        return PairingCode(characters: bytes.map { alphabet[Int($0 & 31)] })
    }

    private init(characters: [UInt8]) { self.characters = characters }

    /// Reads the text that a user has typed, in any case, with or without hyphens and spaces. O is read as 0, I and L
    /// as 1. Nil if it cannot be a code.
    package init?(_ typed: String) {
        guard typed.utf8.count <= 4 * Self.length else { return nil }
        let separators = [UInt8(ascii: "-"), UInt8(ascii: " ")]
        let letters = typed.uppercased().utf8.filter { !separators.contains($0) }.map(Self.read)
        guard letters.count == Self.length, letters.allSatisfy(Self.alphabet.contains) else { return nil }
        characters = letters
    }

    private static func read(_ letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "O"): UInt8(ascii: "0")
        case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
        default: letter
        }
    }

    /// The code for people: two groups of four.
    package var text: String {
        String(decoding: characters.prefix(4) + [UInt8(ascii: "-")] + characters.dropFirst(4), as: UTF8.self)
    }

    /// The form in which it is kept.
    package var hash: Data { Data(SHA256.hash(data: Data("larder pairing code ".utf8) + characters)) }
}

/// The file in which `larder pair` leaves the hash of a code for the server of the data directory. Who may write there
/// operates the server.
package struct PairingCodeFile: Sendable {
    private let url: URL

    package init(in dataDirectory: URL) {
        url = dataDirectory.appending(path: "pairing.code")
    }

    /// Leaves a code, in place of the one before.
    ///
    /// - Throws: `PrivateFile.Failure`.
    package func leave(_ code: PairingCode, profile: String, until end: Date) throws {
        let offer = PairingLedger.Offer(codeHash: code.hash, profile: profile, end: end)
        try PrivateFile(at: url, try JSONEncoder().encode(offer)).write(replaces: true)
    }

    /// Returns the offer in the file and removes it; nil if there is none, or none that can be read.
    func take() -> PairingLedger.Offer? {
        guard let bytes = try? Data(contentsOf: url) else { return nil }
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            // A code whose file remains could be used more than once.
            return nil
        }
        return try? JSONDecoder().decode(PairingLedger.Offer.self, from: bytes)
    }
}

/// Addresses at which a device is paired.
package enum PairingLink {
    /// Returns the address of the page that asks for a code.
    package static func page(_ origin: String) -> String { "\(origin)/pair" }

    /// Returns the same with the code, for a QR code. The code is in the fragment, which browsers send to no server.
    package static func text(_ page: String, _ code: PairingCode) -> String { "\(page)#\(code.text)" }
}
