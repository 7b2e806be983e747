import Foundation
import Screens
import Storage

/// A ship as the app stores and shows it, without the upstream's quirks.
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
    /// The addresses of the details.
    static let paths = ItemPaths("/v1/ships", reserved: ["launch", "restore", "session"])

    /// The sort key of ships: the name in Unicode simple case folding, so that `bob` is between `Alma` and `Carl`.
    var sortKey: String { Self.sortKey(of: name) }

    static func sortKey(of name: String) -> String { name.caseFolded.cutToKey }
}
