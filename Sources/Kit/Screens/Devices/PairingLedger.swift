import Foundation

/// The code that may be used now, and who has tried. A value without a clock and without randomness.
struct PairingLedger: Sendable {
    /// A code that was made.
    struct Offer: Sendable, Equatable, Codable {
        let codeHash: Data
        /// The profile of the device that uses it.
        let profile: String
        /// From when on it is late.
        let end: Date
    }

    enum Outcome: Equatable {
        /// It was the code, which no other client can use from here on.
        case right(Offer)
        /// It was the code, but too late.
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
    ///   - codeHash: The hash of what was typed; nil if that cannot be a code.
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
