// SPDX-License-Identifier: Apache-2.0

package connector

// Schema is what a store holds, by names, types and numbers: it has no value of any
// property. What a store has too much of is cut off.
type Schema struct {
	Labels []Kind // of nodes; one with the name "" where nodes have none
	Types  []Kind // of relationships; one with the name "" where they have none
	Cut    bool   // there are more labels, types or properties than these
}

// Kind is a label or a type.
type Kind struct {
	Name       string
	Count      int64
	Properties []Property // of a sample
	Ends       []Ends     // of a sample of the relationships of a type
}

// Property is what a sample of a kind holds under a name.
type Property struct {
	Name     string
	Type     PropertyType
	Share    float64 // of the sample that has it, in (0, 1]
	Distinct int     // values in the sample
	Positive bool    // each is a number > 0; of relationships only
	Unique   bool    // by a constraint
}

// PropertyType is the type of all values of a property.
type PropertyType string

// The types that a selection can use; OtherType is all else, and any mixture but that of
// whole and other numbers.
const (
	IntegerType PropertyType = "integer"
	NumberType  PropertyType = "number"
	TextType    PropertyType = "text"
	BooleanType PropertyType = "boolean"
	PointType   PropertyType = "point"
	OtherType   PropertyType = "other"
)

// Merge returns the type of values of both types; "" is that of no value.
func (t PropertyType) Merge(u PropertyType) PropertyType {
	switch {
	case t == "" || t == u:
		return u
	case u == "":
		return t
	case t.Numeric() && u.Numeric():
		return NumberType
	}
	return OtherType
}

// Numeric reports whether all values are numbers.
func (t PropertyType) Numeric() bool { return t == IntegerType || t == NumberType }

// Ends are the labels of both ends of some relationships.
type Ends struct {
	From, To []string
	Count    int
}

// Bounds of a schema.
const (
	SchemaKinds      = 200  // labels, and types
	SchemaProperties = 500  // of a kind
	SchemaSample     = 1000 // nodes or relationships of a kind
)
