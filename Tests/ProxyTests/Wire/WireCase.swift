import TestKit

/// One case of the mutation run: what the server sends to one request, and how. The same for the same seed and number.
struct WireCase: Sendable {
    /// Through what the request goes.
    enum Route: Int, CaseIterable, Sendable { case read, call, stream, upload, mount, mountHead, mountWrite }

    let number: Int
    let route: Route
    /// The bytes in the pieces in which they are written.
    let pieces: [[UInt8]]
    let ending: RawServer.Response.Ending
    /// Whether the server responds as soon as it has the head of a request with a body, and reads no more of it.
    let isEarly: Bool

    init(seed: UInt64, number: Int, port: Int) {
        var chance = SeededRandom(seed: seed &+ UInt64(number) &* 0x2545_F491_4F6C_DD1D)
        self.number = number
        route = chance.one(of: Route.allCases, or: .read)
        var response = WireResponse(chance: SeededRandom(seed: chance.next()), port: port)
        let (text, isSelfDelimited) = response.bytes()
        var bytes = Array(text.utf8)
        let isMutated = chance.once(in: 2)
        if isMutated { for _ in 0..<chance.number(1...6) { Self.mutate(&bytes, &chance) } }
        let isWhole = isSelfDelimited && !isMutated
        switch chance.number(0...19) {
        case 0: ending = .resets
        // An end that never comes costs its deadline; some of those have to be.
        case 1...(isWhole ? 12 : 1): ending = .stays
        default: ending = .closes
        }
        isEarly = ending != .stays && chance.once(in: 3)
        pieces = Self.cut(bytes, &chance)
    }

    private static func mutate(_ bytes: inout [UInt8], _ chance: inout SeededRandom) {
        guard !bytes.isEmpty else { return }
        // Most decisions depend on the head.
        let end = chance.once(in: 3) ? bytes.count : min(bytes.count, 200)
        let place = chance.number(0...(end - 1))
        switch chance.number(0...7) {
        case 0: bytes[place] ^= 1 << UInt8(chance.number(0...7))
        case 1: bytes[place] = UInt8(chance.number(0...255))
        case 2: bytes.remove(at: place)
        case 3:
            bytes.insert(
                chance.one(of: [0x0D, 0x0A, 0x20, 0x09, 0x00, 0x3A, 0x30, 0x2D, 0xFF, 0x7F], or: 0),
                at: place
            )
        case 4: bytes.removeSubrange(place..<min(bytes.count, place + chance.number(1...20)))
        case 5:
            let slice = Array(bytes[place..<min(bytes.count, place + chance.number(1...60))])
            bytes.insert(contentsOf: slice, at: chance.number(0...bytes.count))
        case 6: bytes.removeSubrange(place...)
        default: bytes.replaceSubrange(place..<min(bytes.count, place + 1), with: Array("99999999999999999999".utf8))
        }
    }

    private static func cut(_ bytes: [UInt8], _ chance: inout SeededRandom) -> [[UInt8]] {
        var rest = bytes[...]
        var pieces: [[UInt8]] = []
        for _ in 0..<chance.one(of: [0, 0, 1, 2, 5], or: 0) where rest.count > 1 {
            let piece = rest.prefix(chance.number(1...(rest.count - 1)))
            pieces.append(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        return pieces + [Array(rest)]
    }
}
