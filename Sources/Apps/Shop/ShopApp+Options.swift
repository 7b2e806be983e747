import Database

extension ShopApp {
    /// The app's settings.
    package struct Options: Sendable {
        /// Categories whose products take a whole row: ids, or names without regard to case.
        package var wideCategories: [String]

        /// Creates options.
        package init(wideCategories: [String] = ["1", "2"]) {
            self.wideCategories = wideCategories
        }

        func layout(of category: Product.Category?) -> Layout {
            guard let category else { return .tile }
            let name = category.name.caseFolded
            return wideCategories.contains { Int($0) == category.id || $0.caseFolded == name } ? .wide : .tile
        }
    }
}
