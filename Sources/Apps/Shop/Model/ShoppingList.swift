import Foundation
import HTTP
import Screens

/// The lists of products that a profile has.
enum ListKind: Sendable {
    /// The shopping list.
    case list
    case favourites

    /// The name of a list among all lists: that of the profile, which has no slash.
    func key(_ profile: String) -> String { self == .list ? profile : "\(profile)/favourites" }

    /// Reads the name of a list.
    static func read(_ key: String) -> (kind: ListKind, profile: String) {
        let profile = String(key.prefix { $0 != "/" })
        return (profile == key ? .list : .favourites, profile)
    }

    /// The name of its screen.
    var screen: String { self == .list ? "shop.list" : "shop.favourites" }

    /// Its address.
    var path: Link { self == .list ? "/v1/shop/list" : "/v1/shop/favourites" }
}

/// Identifies a line of a list by the id that its product had when it was added. A number follows if the upstream gave
/// that id to several products of the list.
struct ListItemID: Sendable, Hashable {
    var productID: Int
    /// 1 for the first product of that id.
    var ordinal = 1

    /// The id in paths and bodies.
    var text: String { ordinal == 1 ? "\(productID)" : "\(productID)-\(ordinal)" }
}

extension ListItemID {
    /// Reads `5` and `5-2`; nil for other texts.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ $0.isDigits && !$0.hasPrefix("0") }) else { return nil }
        let numbers = parts.compactMap { Int($0) }
        guard numbers.count == parts.count, let productID = numbers.first else { return nil }
        self.init(productID: productID, ordinal: numbers.count > 1 ? numbers[1] : 1)
        guard text == self.text else { return nil }
    }
}

/// One line of a shopping list.
struct ListItem: Sendable, Equatable {
    /// How the upstream's product with the same id differs.
    enum Difference: String, Sendable, Encodable {
        /// The upstream no longer has the product.
        case gone
        /// The id is another product's now.
        case replaced
    }

    /// Quantities that a line may have.
    static let quantities = 1...999
    /// Differences between two of them.
    static let differences = (1 - quantities.count)...(quantities.count - 1)

    var id: ListItemID
    /// The product in its last known version.
    var product: Product
    var quantity: Int
    /// Whether the user has checked it off.
    var isBought = false
    /// The price that the user has seen before, if it is another one now.
    var earlierPrice: Price?
    var difference: Difference?
}

enum LineChange: Sendable, Equatable {
    /// Sets the quantity.
    case to(Int)
    /// More pieces, or fewer if it is negative: changes of several clients add up.
    case by(Int)
    /// Checks the line off, or takes that back.
    case bought(Bool)

    /// Returns the quantity of a line that had another one before; nil if no line may have it.
    func applied(to quantity: Int) -> Int? {
        let changed =
            switch self {
            case .to(let quantity): quantity
            case .by(let difference): quantity + difference
            case .bought: quantity
            }
        return ListItem.quantities.contains(changed) ? changed : nil
    }
}

/// The line of a shopping list that has a product.
struct CartLine: Sendable, Equatable {
    var id: ListItemID
    var quantity: Int
}

/// A part of a shopping list with the sums and the revision of the whole list, read in one transaction.
struct ShoppingList: Sendable, Equatable {
    /// The lines of the part, in order.
    var page: ListPage<ListItem>
    /// Sums over all lines.
    var totals: ListTotals
    /// Number of changes of this list.
    var revision: Int
    /// The line that a write has added or changed, wherever it is on the list.
    var changedLine: ListItem?
    /// Whether a write has changed the list.
    var isChanged = false

    var items: [ListItem] { page.rows }
}

/// Sums over all lines of a shopping list.
struct ListTotals: Sendable, Equatable {
    var lines = 0
    /// Pieces of all lines.
    var pieces = 0
    /// Price of all pieces, exact.
    var price = Decimal(0)
}

/// A list of a profile as files of an archive: JSON for programs, a text for people.
enum ListArchive {
    /// `list.json`.
    private struct List: Encodable {
        struct Line: Encodable {
            let id: String
            let title: String
            let price: Decimal
            let quantity: Int
            @Nullable var category: String?
        }

        let items: [Line]
        let totalPrice: Decimal
    }

    /// Adds the files.
    ///
    /// - Returns: the number of lines.
    /// - Throws: errors of writing the archive.
    static func add(_ list: ShoppingList, as name: String = "list", to archive: ZipArchive) throws -> Int {
        let lines = list.items.map { item in
            List.Line(
                id: item.id.text,
                title: item.product.title,
                price: item.product.price.amount,
                quantity: item.quantity,
                category: item.product.category?.name
            )
        }
        try archive.add(json: List(items: lines, totalPrice: list.totals.price), as: "shop/\(name).json")
        let text = try archive.text()
        for line in lines { try text.append("\(line.quantity) × \(line.title) — \(line.price)\n") }
        try archive.add(text, as: "shop/\(name).txt")
        return lines.count
    }
}
