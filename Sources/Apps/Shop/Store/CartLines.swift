/// The lines of a list that have some products, by the ids of the products.
struct CartLines: Sendable {
    private(set) var byProduct: [Int: CartLine] = [:]
    /// The same of the favourites.
    private(set) var favourites: [Int: CartLine] = [:]
    /// The lines of the whole list.
    var total = 0
    private let products: [Int: Product]

    init(of products: [Product]) {
        self.products = Dictionary(products.map { ($0.id, $0) }) { first, _ in first }
    }

    var ids: some Collection<Int> { products.keys }

    /// Whether the list takes no more lines.
    var isListFull: Bool { total >= ShopStore.maximumItems }

    subscript(product: Int) -> CartLine? { byProduct[product] }

    /// Takes a line if it has one of the products, not one whose id was another product's when it was added.
    ///
    /// - Parameters:
    ///   - product: The present id of the line's product.
    ///   - title: Of the line's product.
    ///   - madeAt: Of the line's product.
    mutating func take(_ line: CartLine, of product: Int, in list: ListKind, title: String, madeAt: String?) {
        guard products[product]?.isSame(asTitle: title, madeAt: madeAt) == true else { return }
        let lines = list == .list ? \CartLines.byProduct : \.favourites
        // Of several lines that are the product the last one counts.
        if let known = self[keyPath: lines][product]?.id,
            (known.ordinal, known.productID) > (line.id.ordinal, line.id.productID)
        {
            return
        }
        self[keyPath: lines][product] = line
    }

    /// Takes a line that has followed one of the products to another id, for the id that it had before.
    mutating func take(_ line: CartLine, slug: String, title: String, in list: ListKind) {
        let lines = list == .list ? \CartLines.byProduct : \.favourites
        for product in products.values
        where product.slug == slug && product.title == title && self[keyPath: lines][product.id] == nil {
            self[keyPath: lines][product.id] = line
        }
    }
}
