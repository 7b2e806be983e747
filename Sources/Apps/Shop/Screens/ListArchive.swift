import Foundation
import Screens

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
    /// - Throws: `EncodingError`, errors of writing the archive.
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
