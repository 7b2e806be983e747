/// An unlimited number of products: the n-th of a seed is always the same, whatever else is requested.
struct CatalogueGenerator: Sendable {
    let seed: UInt64
    let categories: [Int]

    /// The product of a number from 0; its id is one more.
    func product(number: Int) -> CatalogueProduct {
        let isRussian = draw(number, 0, 4) == 0
        let (qualities, colors, things) = isRussian ? Self.russian : Self.english
        let words = [
            qualities[draw(number, 1, qualities.count)], colors[draw(number, 2, colors.count)],
            things[draw(number, 3, things.count)],
        ]
        let title = "\(words.joined(separator: " ")) \(number + 1)"
        let cents = draw(number, 4, 100_000) + 1
        return CatalogueProduct(
            id: number + 1,
            title: title,
            slug: Catalogue.slug(of: title),
            price: cents % 4 == 0
                ? "\(cents / 100).\(cents % 100 < 10 ? "0" : "")\(cents % 100)" : "\(cents / 100 + 1)",
            description: isRussian ? "\(title): сделано для проверки." : "\(title), made for tests.",
            categoryID: categories.isEmpty ? 1 : categories[draw(number, 5, categories.count)],
            images: "\(Catalogue.originMarker)/catalogue/images/generated-\(draw(number, 6, 50)).png"
        )
    }

    private func draw(_ number: Int, _ purpose: UInt64, _ bound: Int) -> Int {
        Int(SplitMix64.value(seed: seed, index: UInt64(number) &* 8 &+ purpose) % UInt64(bound))
    }

    private static let english = (
        ["Soft", "Classic", "Modern", "Vintage", "Sleek", "Cozy", "Sturdy", "Portable", "Handmade", "Light"],
        ["Red", "Blue", "Green", "White", "Black", "Grey", "Amber", "Olive", "Navy", "Ivory"],
        [
            "Shirt", "Hoodie", "Lamp", "Sofa", "Sneakers", "Mug", "Headphones", "Keyboard", "Backpack", "Table",
            "Chair", "Camera",
        ]
    )

    private static let russian = (
        ["Мягкий", "Новый", "Тёплый", "Лёгкий", "Прочный", "Домашний"],
        ["красный", "синий", "зелёный", "белый", "чёрный", "серый"],
        ["свитер", "диван", "чайник", "рюкзак", "светильник", "стол", "плед", "шарф"]
    )
}
