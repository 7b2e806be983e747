/// The lines of a list that have some products, by the ids of the products.
struct CartLines: Sendable {
    private(set) var byProduct: [Int: CartLine] = [:]
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
    ///   - title: Of the line's product.
    ///   - madeAt: Of the line's product.
    mutating func take(_ line: CartLine, title: String, madeAt: String?) {
        let id = line.id.productID
        guard products[id]?.isSame(asTitle: title, madeAt: madeAt) == true else { return }
        // Of several lines that are the product the last one counts.
        if let known = byProduct[id], known.id.ordinal > line.id.ordinal { return }
        byProduct[id] = line
    }
}
