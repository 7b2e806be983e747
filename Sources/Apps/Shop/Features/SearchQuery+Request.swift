import Foundation
import JSONValues
import Screens

extension SearchQuery {
    /// The parameters of a search other than those of paging.
    static let parameterNames = ["q", "category_id", "price", "price_min", "price_max"]

    /// Reads the query of a request; an empty value counts as absent.
    ///
    /// - Throws: ``Problem`` 400 that names the parameter at fault.
    init(_ items: QueryItems) throws {
        func value(_ name: String) throws -> String? { try items.string(name).flatMap { $0.isEmpty ? nil : $0 } }
        func price(_ name: String) throws -> Price? {
            guard let text = try value(name) else { return nil }
            guard let price = Price(text: text) else {
                throw Problem.invalidParameter(name, accepted: Self.acceptedPrice, dialog: .prices)
            }
            return price
        }
        let text = try value("q")
        if let text, let wrong = Self.fault(of: text) {
            throw Problem.invalidParameter("q", accepted: wrong, dialog: .searchText)
        }
        let ids = Product.Category.ids
        let category = try value("category_id") == nil ? nil : try items.integer("category_id", in: ids)
        let filters = SearchFilters(
            categoryID: category,
            price: try price("price"),
            minimum: try price("price_min"),
            maximum: try price("price_max")
        )
        if let (name, wrong) = filters.contradiction {
            throw Problem.invalidParameter(name, accepted: wrong, dialog: .prices)
        }
        self.init(text: text, filters: filters, order: try Self.order(items))
    }

    /// Reads the order of a request; nil if it names none.
    static func order(_ items: QueryItems) throws -> SearchOrder? {
        guard let text = try items.string("sort"), !text.isEmpty else { return nil }
        guard let order = SearchOrder(rawValue: text) else {
            let names = SearchOrder.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem.invalidParameter("sort", accepted: "accepts \(names)")
        }
        return order
    }

    static let acceptedPrice: Text = .priceForm

    /// Returns the rule that a text breaks; nil if the text is valid.
    static func fault(of text: String) -> Text? {
        if text.trimmingCharacters(in: .whitespacesAndNewlines).count > maximumTextLength {
            return .textLength(maximumTextLength)
        }
        let isPlain = text.unicodeScalars.allSatisfy {
            $0.properties.generalCategory != .control || $0 == "\t" || $0 == "\n" || $0 == "\r"
        }
        return isPlain ? nil : .noControlCharacters
    }

    /// The address of this search.
    var link: Link {
        let values: [(String, String?)] = [
            ("q", text), ("category_id", filters.categoryID.map(String.init)),
            ("price", filters.price?.amount.description),
            ("price_min", filters.minimum?.amount.description), ("price_max", filters.maximum?.amount.description),
            ("sort", order?.rawValue),
        ]
        return values.reduce("/v1/shop/search") { link, parameter in
            parameter.1.map { link.query(parameter.0, $0) } ?? link
        }
    }
}

extension SearchFilters {
    /// A contradiction between filters: the parameter at fault, and the values that it accepts.
    var contradiction: (name: String, accepted: Text)? {
        if price != nil, minimum != nil || maximum != nil {
            return ("price", .priceAlone)
        }
        if let minimum, let maximum, minimum > maximum { return ("price_min", .minimumAboveMaximum) }
        return nil
    }

    /// Reads the fields of a body; an absent field, or null, is no filter.
    ///
    /// - Throws: ``Problem`` 422 that names every field at fault.
    init(_ fields: JSONFields) throws {
        var errors: [Problem.FieldError] = []
        self.init(
            categoryID: Self.category(fields, &errors),
            price: Self.price("price", fields, &errors),
            minimum: Self.price("price_min", fields, &errors),
            maximum: Self.price("price_max", fields, &errors)
        )
        if errors.isEmpty, let (name, wrong) = contradiction {
            errors.append(.field("/\(name)", "contradictory", "\(name) \(wrong)."))
        }
        let isOfPrices = errors.allSatisfy { $0.pointer != "/category_id" }
        guard errors.isEmpty else { throw Problem.validation(errors, dialog: isOfPrices ? .prices : nil) }
    }

    private static func price(_ name: String, _ fields: JSONFields, _ errors: inout [Problem.FieldError]) -> Price? {
        guard let value = fields.values[name], value != .null else { return nil }
        let amount = value.double.flatMap { Decimal(string: "\($0)", locale: Locale(identifier: "en_US_POSIX")) }
        if let price = amount.flatMap(Price.init) { return price }
        errors.append(.field("/\(name)", "invalid", "\(name) \(SearchQuery.acceptedPrice)."))
        return nil
    }

    private static func category(_ fields: JSONFields, _ errors: inout [Problem.FieldError]) -> Int? {
        guard let value = fields.values["category_id"], value != .null else { return nil }
        if let id = value.int, Product.Category.ids.contains(id) { return id }
        errors.append(.field("/category_id", "invalid", .categoryForm))
        return nil
    }
}
