import Database
import Foundation

/// A ship as the app stores it: what its screens show, without the upstream's quirks.
struct Ship: Sendable, Equatable {
    /// The API's id: the only key that does not change if a ship is renamed.
    var id: String
    var name: String
    var type: String?
    var roles: [String]
    var isActive: Bool
    var yearBuilt: Int?
    var homePort: String?
    var massKilograms: Double?
    /// URL of the picture, as the API says; never sent to a client.
    var imageURL: String?
    /// Whether the API's last response listed it.
    var isListed = true

    /// Most characters of a text that are kept.
    static let longestText = 2048
    /// Most roles that are kept.
    static let maximumRoles = 100

    /// Whether a text may be an id: 1 to 64 letters, digits, `-` and `_`.
    ///
    /// The API's ids are 24 hexadecimal digits; anything that is safe in a path is accepted. Other texts are never
    /// looked up, since SQLite would find `id` for `id\0more`.
    static func isIdentity(_ id: String) -> Bool {
        (1...64).contains(id.utf8.count)
            && id.utf8.allSatisfy {
                ($0 >= 0x30 && $0 <= 0x39) || ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || $0 == 0x2D || $0 == 0x5F
            }
    }

    /// Words of this API in the place of an id: `/v1/ships/restore` is no ship.
    static let reservedWords: Set<String> = ["launch", "restore", "session"]

    /// Path of the details. `~`, which no id has, keeps an id apart from the words of this API.
    static func path(of id: String) -> String { "/v1/ships/\(reservedWords.contains(id) ? "~" : "")\(id)" }

    /// Returns the id that a segment of a path names.
    static func id(inPath segment: String) -> String {
        String(segment.hasPrefix("~") ? segment.dropFirst() : segment[...])
    }

    /// What ships are sorted by: the name in Unicode simple case folding, so that `bob` is between `Alma` and `Carl`.
    var sortKey: String { Self.sortKey(of: name) }

    static func sortKey(of name: String) -> String { name.caseFolded }
}
