import HTTPTypes

/// Writes, open to everyone.
extension Catalogue {
    func createProduct(_ request: UpstreamRequest) throws(CatalogueError) -> JSONValue {
        let body = Self.body(of: request)
        try Self.check(body, required: true)
        return try data.update { (rows) throws(CatalogueError) in
            let categoryID = body["categoryId"]?.double.flatMap { Int(exactly: $0) } ?? -1
            _ = try rows.requiredCategory(categoryID)
            var product = CatalogueProduct(
                id: (rows.products.last?.id ?? 0) + 1,
                title: "",
                slug: "",
                price: "0",
                description: "",
                categoryID: categoryID,
                images: ""
            )
            try rows.apply(body, to: &product)
            rows.products.append(product)
            return product.json(category: rows.category(product.categoryID), origin: request.origin)
        }
    }

    /// The source reads `images` without looking whether it is there, so that an update without it is a crash;
    /// `categoryId` it ignores.
    func updateProduct(_ id: Int, _ request: UpstreamRequest) throws(CatalogueError) -> JSONValue {
        let body = Self.body(of: request)
        try Self.check(body, required: false)
        return try data.update { (rows) throws(CatalogueError) in
            var product = try rows.requiredProduct(id)
            guard body["images"] != nil else { throw .crash }
            try rows.apply(body, to: &product)
            if let index = rows.index(ofProduct: id) { rows.products[index] = product }
            return product.json(category: rows.category(product.categoryID), origin: request.origin)
        }
    }

    func deleteProduct(_ id: Int) throws(CatalogueError) -> JSONValue {
        try data.update { (rows) throws(CatalogueError) in
            _ = try rows.requiredProduct(id)
            rows.products.removeAll { $0.id == id }
            return true
        }
    }

    func createCategory(_ request: UpstreamRequest) throws(CatalogueError) -> JSONValue {
        let body = Self.body(of: request)
        guard let name = body["name"]?.string, !name.isEmpty, let image = body["image"]?.string, Self.isAddress(image)
        else {
            throw .invalid(["name should not be empty", "name must be a string", "image must be a URL address"])
        }
        return try data.update { (rows) throws(CatalogueError) in
            let slug = Self.slug(of: name)
            guard !rows.categories.contains(where: { $0.slug == slug }) else { throw .taken("category.slug") }
            let category = CatalogueCategory(
                id: (rows.categories.last?.id ?? 0) + 1,
                name: name,
                slug: slug,
                image: image
            )
            rows.categories.append(category)
            return category.json(origin: request.origin)
        }
    }

    func updateCategory(_ id: Int, _ request: UpstreamRequest) throws(CatalogueError) -> JSONValue {
        let body = Self.body(of: request)
        return try data.update { (rows) throws(CatalogueError) in
            var category = try rows.requiredCategory(id)
            if let name = body["name"]?.string { (category.name, category.slug) = (name, Self.slug(of: name)) }
            if let image = body["image"]?.string { category.image = image }
            rows.categories = rows.categories.map { $0.id == id ? category : $0 }
            return category.json(origin: request.origin)
        }
    }

    func deleteCategory(_ id: Int) throws(CatalogueError) -> JSONValue {
        try data.update { (rows) throws(CatalogueError) in
            _ = try rows.requiredCategory(id)
            guard !rows.products.contains(where: { $0.categoryID == id }) else {
                throw .queryFailed(
                    message: "SQLITE_CONSTRAINT: FOREIGN KEY constraint failed",
                    code: "SQLITE_CONSTRAINT_FOREIGNKEY"
                )
            }
            rows.categories.removeAll { $0.id == id }
            return true
        }
    }

    private static func body(of request: UpstreamRequest) -> JSONObject {
        // What is no JSON object counts as one without members, and is found wanting for them.
        (try? JSONParser.parse(request.body))?.object ?? JSONObject()
    }

    private static func check(_ body: JSONObject, required: Bool) throws(CatalogueError) {
        var messages: [String] = []
        let isWanted = { (name: String) in required || body[name] != nil }
        if isWanted("title"), body["title"]?.string?.isEmpty ?? true {
            messages += ["title must be a string", "title should not be empty"]
        }
        if isWanted("price"), !((body["price"]?.double ?? 0) > 0) { messages.append("price must be a positive number") }
        if isWanted("description"), body["description"]?.string == nil {
            messages.append("description must be a string")
        }
        if required, body["categoryId"]?.double == nil {
            messages.append("categoryId must be a number conforming to the specified constraints")
        }
        if isWanted("images") {
            let images = body["images"]?.array ?? []
            if images.isEmpty { messages.append("images must contain at least 1 elements") }
            if images.contains(where: { !($0.string.map(isAddress) ?? false) }) {
                messages.append("each value in images must be a URL address")
            }
        }
        guard messages.isEmpty else { throw .invalid(messages) }
    }

    private static func isAddress(_ text: String) -> Bool { text.hasPrefix("http://") || text.hasPrefix("https://") }
}

extension CatalogueError {
    static func taken(_ column: String) -> CatalogueError {
        .queryFailed(message: "UNIQUE constraint failed: \(column)", code: "SQLITE_CONSTRAINT_UNIQUE")
    }
}

extension CatalogueData.Rows {
    /// Takes over what a body says. Titles that make the same slug cannot stand beside each other.
    fileprivate func apply(_ body: JSONObject, to product: inout CatalogueProduct) throws(CatalogueError) {
        if let title = body["title"]?.string {
            let slug = Catalogue.slug(of: title)
            let id = product.id
            guard !products.contains(where: { $0.slug == slug && $0.id != id }) else { throw .taken("product.slug") }
            (product.title, product.slug) = (title, slug)
        }
        if case .number(let price)? = body["price"] { product.price = price }
        if let description = body["description"]?.string { product.description = description }
        if let images = body["images"]?.array { product.images = images.compactMap(\.string).joined(separator: ",") }
    }
}
