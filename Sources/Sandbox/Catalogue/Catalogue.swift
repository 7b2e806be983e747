import HTTPTypes

/// The products and categories of the Platzi Fake Store API (PlatziLabs/fake-api-backend; docs at fakeapi.platzi.com)
/// and a host of pictures for them, with made data.
///
/// Every client may write, and everything is forgotten at the next start. Users, sign-in, files and locations are not
/// simulated.
final class Catalogue: SimulatedUpstream {
    /// `creationAt` of all rows.
    static let seededAt = "2025-03-11T01:40:00.000Z"
    /// `creationAt` of all rows after a reseed.
    static let reseededAt = "2025-03-12T01:40:00.000Z"

    let name = SandboxUpstream.catalogue.rawValue
    let data: CatalogueData
    private let pictures: ProductPictures

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
        pictures = ProductPictures(seed: seed)
    }

    func reset() { data.reset() }

    func respond(to request: UpstreamRequest) -> UpstreamResponse {
        if request.path.first == "images" { return pictures.respond(to: request) }
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

    /// What `ParseIntPipe` takes.
    static func number(_ text: String) throws(CatalogueError) -> Int {
        guard let number = Int(text), !text.hasPrefix("+") else { throw .notNumeric }
        return number
    }
}

/// Reading.
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
