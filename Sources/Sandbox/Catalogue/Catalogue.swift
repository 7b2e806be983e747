import HTTPTypes
import JSONValues

/// The products and categories of the Platzi Fake Store API (PlatziLabs/fake-api-backend; docs at fakeapi.platzi.com)
/// and a host of pictures for them, with made data.
///
/// Every client may write, and all changes are lost at the next start. Users, sign-in, files and locations are not
/// simulated.
final class Catalogue: SimulatedUpstream {
    /// `creationAt` of all rows.
    static let seededAt = "2025-03-11T01:40:00.000Z"
    /// `creationAt` of all rows after a reseed.
    static let reseededAt = "2025-03-12T01:40:00.000Z"

    let name = SandboxUpstream.catalogue.rawValue
    let data: CatalogueData
    private let pictures: PictureHost

    /// - Throws: ``SandboxError/malformedData(resource:reason:)`` when the built-in rows cannot be read.
    init(seed: UInt64) throws(SandboxError) {
        let rows: CatalogueData.Rows?
        do {
            rows = CatalogueData.Rows(try JSONParser.parse(PackageResources.catalogue_json))
        } catch {
            throw .malformedData(resource: "catalogue.json", reason: error.description)
        }
        guard let rows else { throw .malformedData(resource: "catalogue.json", reason: "a row is incomplete") }
        data = CatalogueData(initial: rows)
        pictures = PictureHost(
            path: "/catalogue/images",
            page: ("sign-in.jpg", "<!DOCTYPE html>\n<title>Sign in</title>\n"),
            redirectsInside: true,
            picture: { ProductPicture.png(name: $0, seed: seed) }
        )
    }

    func reset() { data.reset() }

    func respond(to request: UpstreamRequest) -> UpstreamResponse {
        if request.path.first == "images" {
            guard request.method == .get || request.method == .head else {
                return .text(.methodNotAllowed, "Method Not Allowed")
            }
            return pictures.respond(to: request)
        }
        do throws(CatalogueError) {
            return try route(request)
        } catch {
            return error.respond(to: request)
        }
    }

    private func route(_ request: UpstreamRequest) throws(CatalogueError) -> UpstreamResponse {
        let path = request.path
        switch (request.method == .head ? .get : request.method, path.first, path.count) {
        case (.get, "products", _): return ok(try products(Array(path.dropFirst()), request), request)
        case (.get, "categories", _): return ok(try categories(Array(path.dropFirst()), request), request)
        case (.post, "seed", 1):
            data.reset()
            return .json(.created, true)
        case (.post, "products", 1): return .json(.created, try createProduct(request))
        case (.put, "products", 2): return .json(.ok, try updateProduct(try Self.number(path[1]), request))
        case (.delete, "products", 2): return .json(.ok, try deleteProduct(try Self.number(path[1])))
        case (.post, "categories", 1): return .json(.created, try createCategory(request))
        case (.put, "categories", 2): return .json(.ok, try updateCategory(try Self.number(path[1]), request))
        case (.delete, "categories", 2): return .json(.ok, try deleteCategory(try Self.number(path[1])))
        default: throw .unknownRoute
        }
    }

    /// A 200 with the fields of Express: a weak tag, no word about caching.
    private func ok(_ value: JSONValue, _ request: UpstreamRequest) -> UpstreamResponse {
        var response = UpstreamResponse.json(.ok, value)
        response.headers[.accessControlAllowOrigin] = "*"
        response.headers[.name("X-Powered-By")] = "Express"
        return response.conditional(on: request, weak: true)
    }

    /// The integers that `ParseIntPipe` accepts.
    static func number(_ text: String) throws(CatalogueError) -> Int {
        guard let number = Int(text), !text.hasPrefix("+") else { throw .notNumeric }
        return number
    }
}

extension Catalogue {
    private func products(_ path: [String], _ request: UpstreamRequest) throws(CatalogueError) -> JSONValue {
        let rows = data.rows
        switch (path.first, path.count) {
        case (nil, _):
            return rows.render(try CatalogueFilter(request.query).select(from: rows), origin: request.origin)
        case ("slug", 2), ("slug", 3):
            guard path.count == 2 || path[2] == "related" else { throw .unknownRoute }
            guard let product = rows.products.first(where: { $0.slug == path[1] }) else {
                throw .missing(entity: "Product", relations: true, condition: ["slug": .string(path[1])])
            }
            return render(product, related: path.count == 3, rows, request)
        case (.some(let id), 1), (.some(let id), 2):
            guard path.count == 1 || path[1] == "related" else { throw .unknownRoute }
            return render(try rows.requiredProduct(try Self.number(id)), related: path.count == 2, rows, request)
        default:
            throw .unknownRoute
        }
    }

    private func render(
        _ product: CatalogueProduct,
        related: Bool,
        _ rows: CatalogueData.Rows,
        _ request: UpstreamRequest
    ) -> JSONValue {
        guard related else { return product.json(category: rows.category(product.categoryID), origin: request.origin) }
        return rows.render(
            rows.products.filter { $0.categoryID == product.categoryID && $0.id != product.id },
            origin: request.origin
        )
    }

    private func categories(_ path: [String], _ request: UpstreamRequest) throws(CatalogueError) -> JSONValue {
        let rows = data.rows
        switch (path.first, path.count) {
        case (nil, _):
            let limit = request.query.last { $0.name == "limit" }.flatMap { Int($0.value) } ?? 0
            return .array(
                (limit > 0 ? Array(rows.categories.prefix(limit)) : rows.categories).map {
                    $0.json(origin: request.origin)
                }
            )
        case ("slug", 2):
            guard let category = rows.categories.first(where: { $0.slug == path[1] }) else {
                throw .missing(entity: "Category", relations: false, condition: ["slug": .string(path[1])])
            }
            return category.json(origin: request.origin)
        case (.some(let id), 1):
            return try rows.requiredCategory(try Self.number(id)).json(origin: request.origin)
        case (.some(let id), 2) where path[1] == "products":
            return rows.render(ofCategory: try Self.number(id), request)
        default:
            throw .unknownRoute
        }
    }
}

extension CatalogueData.Rows {
    fileprivate func render(ofCategory id: Int, _ request: UpstreamRequest) -> JSONValue {
        let products = products.filter { $0.categoryID == id }
        guard let window = CatalogueFilter.window(request.query) else {
            return render(products, origin: request.origin)
        }
        return render(products.dropFirst(window.offset).prefix(window.limit), origin: request.origin)
    }

    func requiredProduct(_ id: Int) throws(CatalogueError) -> CatalogueProduct {
        guard let product = product(id) else {
            throw .missing(entity: "Product", relations: true, condition: ["id": .integer(id)])
        }
        return product
    }

    func requiredCategory(_ id: Int) throws(CatalogueError) -> CatalogueCategory {
        guard let category = category(id) else {
            throw .missing(entity: "Category", relations: false, condition: ["id": .integer(id)])
        }
        return category
    }
}

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

    /// As in the service's source, an update without `images` crashes, because the code does not check whether the
    /// member is there. `categoryId` is ignored.
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
        // Every body that is not a JSON object is treated as an object without members.
        JSONValue(json: request.body)?.object ?? JSONObject()
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
    /// Applies the members of a body. Two products cannot have titles that make the same slug.
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
